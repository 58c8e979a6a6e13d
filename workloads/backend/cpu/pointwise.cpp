// SPDX-License-Identifier: Apache-2.0
// ReLU and add (+ ReLU) on the CPU.
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

class Relu final : public Kernel {
 public:
  explicit Relu(const KernelRequest& r)
      : vector_(r.engine.vector), x_(r, r.op.inputs[0], 0), y_(r, r.op.outputs[0]),
        count_(stored_floats(r, r.op.outputs[0])) {}
  int64_t workspace_bytes() const override { return x_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    x_.bind(a);
    y_.bind(a);
  }
  void run() override { vector_.relu(x_.load(), y_.floats(), count_); }

 private:
  const VectorKernels& vector_;
  BlockedImage x_;
  Slot y_;
  int64_t count_;
};

// Reads the ReLU's result in place of `saved`: the CPU's fusion table keeps it.
class ReluBackward final : public Kernel {
 public:
  explicit ReluBackward(const KernelRequest& r)
      : vector_(r.engine.vector), dy_(r, r.op.inputs[0]), y_(r, r.op.inputs.back()), dx_(r, r.op.outputs[0]),
        count_(stored_floats(r, r.op.outputs[0])) {
    if (std::get<ReluAttributes>(r.op.attributes).gradients > 1) dy2_.emplace(r, r.op.inputs[1]);
  }
  void bind(const Addresses& a) override {
    for (Slot* s : {&dy_, &y_, &dx_}) s->bind(a);
    if (dy2_) dy2_->bind(a);
  }
  void run() override {
    vector_.relu_backward(dy_.floats(), dy2_ ? dy2_->floats() : nullptr, y_.floats(), dx_.floats(), count_);
  }

 private:
  const VectorKernels& vector_;
  Slot dy_, y_, dx_;
  std::optional<Slot> dy2_;
  int64_t count_;
};

class Add final : public Kernel {
 public:
  explicit Add(const KernelRequest& r)
      : vector_(r.engine.vector), relu_(std::get<AddAttributes>(r.op.attributes).relu), a_(r, r.op.inputs[0], 0),
        b_(r, r.op.inputs[1], a_.workspace_bytes()), y_(r, r.op.outputs[0]), count_(stored_floats(r, r.op.outputs[0])) {}
  int64_t workspace_bytes() const override { return a_.workspace_bytes() + b_.workspace_bytes(); }
  void bind(const Addresses& addresses) override {
    a_.bind(addresses);
    b_.bind(addresses);
    y_.bind(addresses);
  }
  void run() override { vector_.add(a_.load(), b_.load(), y_.floats(), count_, relu_); }

 private:
  const VectorKernels& vector_;
  bool relu_;
  BlockedImage a_, b_;
  Slot y_;
  int64_t count_;
};

}  // namespace

std::unique_ptr<Kernel> relu(const KernelRequest& r) { return std::make_unique<Relu>(r); }
std::unique_ptr<Kernel> relu_backward(const KernelRequest& r) { return std::make_unique<ReluBackward>(r); }
std::unique_ptr<Kernel> add(const KernelRequest& r) { return std::make_unique<Add>(r); }

}  // namespace gpusizer::cpu
