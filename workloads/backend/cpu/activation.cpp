// SPDX-License-Identifier: Apache-2.0
// GELU, tanh, their gradients, and scaling on the CPU: element by element, in whatever layout the tensors have. Padding
// of channels stays zero, as each of these functions is zero there.
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

class OfOne final : public Kernel {
 public:
  using Function = void (*)(const float* x, float* y, int64_t count);
  OfOne(const KernelRequest& r, Function function)
      : function_(function),
        x_(r, r.op.inputs[0], 0),
        y_(r, r.op.outputs[0]),
        count_(stored_floats(r, r.op.outputs[0])) {}
  int64_t workspace_bytes() const override { return x_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    x_.bind(a);
    y_.bind(a);
  }
  void run() override { function_(x_.load(), y_.floats(), count_); }

 private:
  Function function_;
  BlockedImage x_;
  Slot y_;
  int64_t count_;
};

// (dy, x or y) -> dx
class OfTwo final : public Kernel {
 public:
  using Function = void (*)(const float* dy, const float* x, float* dx, int64_t count);
  OfTwo(const KernelRequest& r, Function function)
      : function_(function),
        dy_(r, r.op.inputs[0], 0),
        x_(r, r.op.inputs[1], dy_.workspace_bytes()),
        dx_(r, r.op.outputs[0]),
        count_(stored_floats(r, r.op.outputs[0])) {}
  int64_t workspace_bytes() const override { return dy_.workspace_bytes() + x_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    dy_.bind(a);
    x_.bind(a);
    dx_.bind(a);
  }
  void run() override { function_(dy_.load(), x_.load(), dx_.floats(), count_); }

 private:
  Function function_;
  BlockedImage dy_, x_;
  Slot dx_;
  int64_t count_;
};

class Scale final : public Kernel {
 public:
  explicit Scale(const KernelRequest& r)
      : function_(r.engine.vector.rows.scale),
        factor_(static_cast<float>(std::get<ScaleAttributes>(r.op.attributes).factor)),
        x_(r, r.op.inputs[0], 0),
        y_(r, r.op.outputs[0]),
        count_(stored_floats(r, r.op.outputs[0])) {}
  int64_t workspace_bytes() const override { return x_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    x_.bind(a);
    y_.bind(a);
  }
  void run() override { function_(x_.load(), y_.floats(), count_, factor_); }

 private:
  void (*function_)(const float*, float*, int64_t, float);
  float factor_;
  BlockedImage x_;
  Slot y_;
  int64_t count_;
};

// (persistent y, x) -> y; both lie alike, as a parameter and its gradient do.
class ScaleInPlace final : public Kernel {
 public:
  explicit ScaleInPlace(const KernelRequest& r)
      : function_(r.engine.vector.rows.scale),
        factor_(static_cast<float>(std::get<ScaleAttributes>(r.op.attributes).factor)),
        x_(r, r.op.inputs[1]),
        y_(r, r.op.outputs[0]),
        count_(stored_floats(r, r.op.outputs[0])) {}
  void bind(const Addresses& a) override {
    x_.bind(a);
    y_.bind(a);
  }
  void run() override { function_(x_.floats(), y_.floats(), count_, factor_); }

 private:
  void (*function_)(const float*, float*, int64_t, float);
  float factor_;
  Slot x_, y_;
  int64_t count_;
};

}  // namespace

std::unique_ptr<Kernel> gelu(const KernelRequest& r) { return std::make_unique<OfOne>(r, r.engine.vector.rows.gelu); }
std::unique_ptr<Kernel> gelu_backward(const KernelRequest& r) {
  return std::make_unique<OfTwo>(r, r.engine.vector.rows.gelu_backward);
}
std::unique_ptr<Kernel> hyperbolic_tangent(const KernelRequest& r) {
  return std::make_unique<OfOne>(r, r.engine.vector.rows.tanh);
}
std::unique_ptr<Kernel> tangent_backward(const KernelRequest& r) {
  return std::make_unique<OfTwo>(r, r.engine.vector.rows.tanh_backward);
}
std::unique_ptr<Kernel> scale(const KernelRequest& r) {
  if (r.op.inputs.size() > 1) return std::make_unique<ScaleInPlace>(r);
  return std::make_unique<Scale>(r);
}

}  // namespace gpusizer::cpu
