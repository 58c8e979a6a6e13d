// SPDX-License-Identifier: Apache-2.0
// Losses of numbers on the CPU: mean squared error, pinball loss, and their gradients. Summed in order, in double.
#include <cmath>

#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// What both losses have: prediction and target, one after the other among the inputs from `first` on.
class Regression : public Kernel {
 public:
  Regression(const KernelRequest& r, size_t first)
      : prediction_(r, r.op.inputs[first]), target_(r, r.op.inputs[first + 1]),
        predictions_(element_count(r.input(first).shape)), targets_(element_count(r.input(first + 1).shape)) {
    for (const TensorId id : r.op.outputs) outputs_.emplace_back(r, id);
    if (const auto* a = std::get_if<QuantileAttributes>(&r.op.attributes)) quantiles_ = a->quantiles;
  }
  void bind(const Addresses& a) override {
    for (Slot* s : {&prediction_, &target_}) s->bind(a);
    for (Slot& s : outputs_) s.bind(a);
  }

 protected:
  // How far the target of prediction i is above it.
  double distance(int64_t i) const {
    const int64_t each = predictions_ / targets_;
    return static_cast<double>(target_.floats()[i / each]) - static_cast<double>(prediction_.floats()[i]);
  }
  double quantile(int64_t i) const { return quantiles_[static_cast<size_t>(i) % quantiles_.size()]; }
  bool is_middle(int64_t i) const { return static_cast<size_t>(i) % quantiles_.size() == quantiles_.size() / 2; }
  float* output(size_t i) const { return outputs_[i].floats(); }
  void set_means(double loss, double absolute) const {
    *output(0) = static_cast<float>(loss / static_cast<double>(predictions_));
    *output(1) = static_cast<float>(absolute / static_cast<double>(targets_));
  }

  Slot prediction_, target_;
  int64_t predictions_, targets_;

 private:
  std::vector<Slot> outputs_;
  std::vector<double> quantiles_;
};

class Mse final : public Regression {
 public:
  explicit Mse(const KernelRequest& r) : Regression(r, 0) {}
  void run() override {
    double squares = 0, absolutes = 0;
    for (int64_t i = 0; i < predictions_; ++i) {
      const double d = distance(i);
      squares += d * d;
      absolutes += std::abs(d);
    }
    set_means(squares, absolutes);
  }
};

// Too low a prediction costs q for each unit, too high a one 1 - q.
class Pinball final : public Regression {
 public:
  explicit Pinball(const KernelRequest& r) : Regression(r, 0) {}
  void run() override {
    double sum = 0, absolutes = 0;
    for (int64_t i = 0; i < predictions_; ++i) {
      const double d = distance(i), q = quantile(i);
      sum += d * (d < 0 ? q - 1 : q);
      if (is_middle(i)) absolutes += std::abs(d);
    }
    set_means(sum, absolutes);
  }
};

// (d loss, prediction, target) -> d prediction
class RegressionBackward final : public Regression {
 public:
  explicit RegressionBackward(const KernelRequest& r)
      : Regression(r, 1), squared_(r.op.kind == OpKind::mse_loss_backward), dloss_(r, r.op.inputs[0]) {}
  void bind(const Addresses& a) override {
    Regression::bind(a);
    dloss_.bind(a);
  }
  void run() override {
    const double scale = static_cast<double>(*dloss_.floats()) / static_cast<double>(predictions_);
    for (int64_t i = 0; i < predictions_; ++i) output(0)[i] = static_cast<float>(scale * slope(i));
  }

 private:
  double slope(int64_t i) const {
    const double d = distance(i);
    if (squared_) return -2 * d;
    return d > 0 ? -quantile(i) : d < 0 ? 1 - quantile(i) : d;  // the last one is 0, or stays NaN
  }
  bool squared_;
  Slot dloss_;
};

}  // namespace

std::unique_ptr<Kernel> mse_loss(const KernelRequest& r) { return std::make_unique<Mse>(r); }
std::unique_ptr<Kernel> pinball_loss(const KernelRequest& r) { return std::make_unique<Pinball>(r); }
std::unique_ptr<Kernel> regression_backward(const KernelRequest& r) { return std::make_unique<RegressionBackward>(r); }

}  // namespace gpusizer::cpu
