// SPDX-License-Identifier: Apache-2.0
// What stands between gradients and updates: their norm, the factor that clips or skips, loss scale and step count.
#include <algorithm>
#include <cmath>

#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// The sum of the squares of all elements of some tensors, over fixed blocks: the number of threads does not matter.
class SquareSum {
 public:
  SquareSum(const KernelRequest& r, size_t tensors) : square_sum_(r.engine.vector.update.square_sum) {
    for (size_t i = 0; i < tensors; ++i) {
      slots_.emplace_back(r, r.op.inputs[i]);
      // In the layout's order; the padding of channels, where there is any, is zero.
      const int64_t count = stored_floats(r, r.op.inputs[i]);
      for (int64_t first = 0; first < count; first += sum_block)
        blocks_.push_back({i, first, std::min(sum_block, count - first)});
    }
  }
  int64_t workspace_bytes() const { return static_cast<int64_t>(blocks_.size() * sizeof(double)); }
  void bind(const Addresses& a) {
    for (Slot& s : slots_) s.bind(a);
    partial_ = reinterpret_cast<double*>(a.workspace);
  }
  double sum() const {
    const auto count = static_cast<int64_t>(blocks_.size());
#pragma omp parallel for schedule(static) if (count > 1)
    for (int64_t i = 0; i < count; ++i) {
      const Block& b = blocks_[static_cast<size_t>(i)];
      partial_[i] = square_sum_(slots_[b.input].floats() + b.first, b.count);
    }
    double squares = 0;
    for (int64_t i = 0; i < count; ++i) squares += partial_[i];
    return squares;
  }

 private:
  struct Block {
    size_t input;
    int64_t first, count;
  };
  double (*square_sum_)(const float*, int64_t);
  std::vector<Slot> slots_;
  std::vector<Block> blocks_;
  double* partial_ = nullptr;
};

struct ClippedNorm {
  float factor, norm;  // what gradients are multiplied by (0: they are not finite); their norm without the loss scale
};

ClippedNorm clipped_norm(const GradientNormAttributes& a, double squares, double scale) {
  const double norm = std::sqrt(squares) / scale;
  const double clipped = a.clip > 0 && norm > a.clip ? a.clip / norm : 1;
  return {std::isfinite(norm) ? static_cast<float>(clipped / scale) : 0.f, static_cast<float>(norm)};
}

// (gradients... [, loss scale]) -> factor, norm
class GradientNorm final : public Kernel {
 public:
  explicit GradientNorm(const KernelRequest& r)
      : a_(std::get<GradientNormAttributes>(r.op.attributes)),
        squares_(r, r.op.inputs.size() - (a_.scaled ? 1 : 0)),
        factor_(r, r.op.outputs[0]),
        norm_(r, r.op.outputs[1]),
        scale_(r, r.op.inputs.back()) {}
  int64_t workspace_bytes() const override { return squares_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    squares_.bind(a);
    for (Slot* s : {&factor_, &norm_, &scale_}) s->bind(a);
  }
  void run() override {
    const auto [factor, norm] = clipped_norm(a_, squares_.sum(), a_.scaled ? static_cast<double>(*scale_.floats()) : 1);
    *factor_.floats() = factor;
    *norm_.floats() = norm;
  }

 private:
  GradientNormAttributes a_;
  SquareSum squares_;
  Slot factor_, norm_, scale_;
};

// (gradients...) -> the sum of their squares, with the loss scale still on
class SumSquares final : public Kernel {
 public:
  explicit SumSquares(const KernelRequest& r) : squares_(r, r.op.inputs.size()), y_(r, r.op.outputs[0]) {}
  int64_t workspace_bytes() const override { return squares_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    squares_.bind(a);
    y_.bind(a);
  }
  void run() override { *y_.floats() = static_cast<float>(squares_.sum()); }

 private:
  SquareSum squares_;
  Slot y_;
};

// The operations on single numbers.
class Numbers : public Kernel {
 public:
  explicit Numbers(const KernelRequest& r) {
    for (const TensorId id : r.op.inputs) slots_.emplace_back(r, id);
  }
  void bind(const Addresses& a) override {
    for (Slot& s : slots_) s.bind(a);
  }

 protected:
  size_t size() const { return slots_.size(); }
  float& number(size_t i) const { return *slots_[i].floats(); }

 private:
  std::vector<Slot> slots_;
};

class CountStep final : public Numbers {
 public:
  using Numbers::Numbers;
  void run() override {
    if (size() < 2 || number(1) != 0) number(0) += 1;
  }
};

class LossScaleUpdate final : public Numbers {
 public:
  explicit LossScaleUpdate(const KernelRequest& r) : Numbers(r), a_(std::get<LossScaleAttributes>(r.op.attributes)) {}
  void run() override {
    float &scale = number(0), &good = number(1);
    if (number(2) == 0) {
      scale = std::max(1.f, scale * static_cast<float>(a_.backoff));
      good = 0;
    } else if (++good >= static_cast<float>(a_.interval)) {
      scale = std::min(scale * static_cast<float>(a_.growth), static_cast<float>(a_.largest));
      good = 0;
    }
  }

 private:
  LossScaleAttributes a_;
};

// (sum of squares [, loss scale]) -> factor, norm
class NormFactor final : public Numbers {
 public:
  explicit NormFactor(const KernelRequest& r)
      : Numbers(r),
        a_(std::get<GradientNormAttributes>(r.op.attributes)),
        factor_(r, r.op.outputs[0]),
        norm_(r, r.op.outputs[1]) {}
  void bind(const Addresses& a) override {
    Numbers::bind(a);
    factor_.bind(a);
    norm_.bind(a);
  }
  void run() override {
    const auto [factor, norm] =
        clipped_norm(a_, static_cast<double>(number(0)), a_.scaled ? static_cast<double>(number(1)) : 1);
    *factor_.floats() = factor;
    *norm_.floats() = norm;
  }

 private:
  GradientNormAttributes a_;
  Slot factor_, norm_;
};

}  // namespace

std::unique_ptr<Kernel> gradient_norm(const KernelRequest& r) { return std::make_unique<GradientNorm>(r); }
std::unique_ptr<Kernel> sum_squares(const KernelRequest& r) { return std::make_unique<SumSquares>(r); }
std::unique_ptr<Kernel> norm_factor(const KernelRequest& r) { return std::make_unique<NormFactor>(r); }
std::unique_ptr<Kernel> count_step(const KernelRequest& r) { return std::make_unique<CountStep>(r); }
std::unique_ptr<Kernel> loss_scale_update(const KernelRequest& r) { return std::make_unique<LossScaleUpdate>(r); }

}  // namespace gpusizer::cpu
