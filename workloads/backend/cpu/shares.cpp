// SPDX-License-Identifier: Apache-2.0
// A part's share in the whole on the CPU: counts, quotients, and gradients multiplied by a computed number.
#include <algorithm>

#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// labels -> how many are not negative
class CountLabels final : public Kernel {
 public:
  explicit CountLabels(const KernelRequest& r)
      : labels_(r, r.op.inputs[0]), y_(r, r.op.outputs[0]), count_(element_count(r.input(0).shape)) {}
  void bind(const Addresses& a) override {
    labels_.bind(a);
    y_.bind(a);
  }
  void run() override {
    const int32_t* labels = labels_.ints();
    *y_.floats() = static_cast<float>(std::count_if(labels, labels + count_, [](int32_t label) { return label >= 0; }));
  }

 private:
  Slot labels_, y_;
  int64_t count_;
};

// (a, b) -> a / b; 0 where b is 0
class Divide final : public Kernel {
 public:
  explicit Divide(const KernelRequest& r)
      : numerator_(r, r.op.inputs[0]), denominator_(r, r.op.inputs[1]), y_(r, r.op.outputs[0]) {}
  void bind(const Addresses& addresses) override {
    for (Slot* s : {&numerator_, &denominator_, &y_}) s->bind(addresses);
  }
  void run() override {
    const float denominator = *denominator_.floats();
    *y_.floats() = denominator != 0 ? *numerator_.floats() / denominator : 0;
  }

 private:
  Slot numerator_, denominator_, y_;
};

// (x [, s]) -> s x; without s a copy
class ScaleBy final : public Kernel {
 public:
  explicit ScaleBy(const KernelRequest& r)
      : function_(r.engine.vector.rows.scale),
        x_(r, r.op.inputs[0], 0),
        y_(r, r.op.outputs[0]),
        count_(stored_floats(r, r.op.outputs[0])) {
    if (r.op.inputs.size() > 1) factor_.emplace(r, r.op.inputs[1]);
  }
  int64_t workspace_bytes() const override { return x_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    x_.bind(a);
    y_.bind(a);
    if (factor_) factor_->bind(a);
  }
  void run() override { function_(x_.load(), y_.floats(), count_, factor_ ? *factor_->floats() : 1.f); }

 private:
  void (*function_)(const float*, float*, int64_t, float);
  BlockedImage x_;
  Slot y_;
  std::optional<Slot> factor_;
  int64_t count_;
};

}  // namespace

std::unique_ptr<Kernel> count_labels(const KernelRequest& r) { return std::make_unique<CountLabels>(r); }
std::unique_ptr<Kernel> divide(const KernelRequest& r) { return std::make_unique<Divide>(r); }
std::unique_ptr<Kernel> scale_by(const KernelRequest& r) { return std::make_unique<ScaleBy>(r); }
std::unique_ptr<Kernel> fork(const KernelRequest& r) { return std::make_unique<ScaleBy>(r); }

}  // namespace gpusizer::cpu
