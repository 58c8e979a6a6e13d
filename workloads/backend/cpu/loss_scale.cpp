// SPDX-License-Identifier: Apache-2.0
// What stands between gradients and updates: their norm, the factor that clips or skips, loss scale and step count.
#include <algorithm>
#include <cmath>

#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// (gradients... [, loss scale]) -> factor, norm. Sums over fixed blocks, so that the number of threads does not matter.
class GradientNorm final : public Kernel {
 public:
  explicit GradientNorm(const KernelRequest& r)
      : square_sum_(r.engine.vector.update.square_sum), a_(std::get<GradientNormAttributes>(r.op.attributes)),
        factor_(r, r.op.outputs[0]), norm_(r, r.op.outputs[1]) {
    for (const TensorId id : r.op.inputs) slots_.emplace_back(r, id);
    for (size_t i = 0; i + (a_.scaled ? 1 : 0) < slots_.size(); ++i) {
      // In the layout's order; the padding of channels, where there is any, is zero.
      const auto count = static_cast<int64_t>(r.layouts.stored(r.op.inputs[i]).get_size() / sizeof(float));
      for (int64_t first = 0; first < count; first += sum_block)
        blocks_.push_back({i, first, std::min(sum_block, count - first)});
    }
  }
  int64_t workspace_bytes() const override { return static_cast<int64_t>(blocks_.size() * sizeof(double)); }
  void bind(const Addresses& a) override {
    for (Slot& s : slots_) s.bind(a);
    factor_.bind(a);
    norm_.bind(a);
    partial_ = reinterpret_cast<double*>(a.workspace);
  }
  void run() override {
    const auto count = static_cast<int64_t>(blocks_.size());
#pragma omp parallel for schedule(static) if (count > 1)
    for (int64_t i = 0; i < count; ++i) {
      const Block& b = blocks_[static_cast<size_t>(i)];
      partial_[i] = square_sum_(slots_[b.input].floats() + b.first, b.count);
    }
    double squares = 0;
    for (int64_t i = 0; i < count; ++i) squares += partial_[i];
    const double scale = a_.scaled ? static_cast<double>(*slots_.back().floats()) : 1;
    const double norm = std::sqrt(squares) / scale;
    const double clipped = a_.clip > 0 && norm > a_.clip ? a_.clip / norm : 1;
    *factor_.floats() = std::isfinite(norm) ? static_cast<float>(clipped / scale) : 0.f;
    *norm_.floats() = static_cast<float>(norm);
  }

 private:
  struct Block {
    size_t input;
    int64_t first, count;
  };
  double (*square_sum_)(const float*, int64_t);
  GradientNormAttributes a_;
  Slot factor_, norm_;
  std::vector<Slot> slots_;
  std::vector<Block> blocks_;
  double* partial_ = nullptr;
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

}  // namespace

std::unique_ptr<Kernel> gradient_norm(const KernelRequest& r) { return std::make_unique<GradientNorm>(r); }
std::unique_ptr<Kernel> count_step(const KernelRequest& r) { return std::make_unique<CountStep>(r); }
std::unique_ptr<Kernel> loss_scale_update(const KernelRequest& r) { return std::make_unique<LossScaleUpdate>(r); }

}  // namespace gpusizer::cpu
