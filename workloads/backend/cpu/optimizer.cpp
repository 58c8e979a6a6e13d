// SPDX-License-Identifier: Apache-2.0
// Parameter updates on the CPU: element by element in the parameter's own layout, gradient and momentum lying alike.
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

class Sgd final : public Kernel {
 public:
  explicit Sgd(const KernelRequest& r)
      : vector_(r.engine.vector), a_(std::get<SgdAttributes>(r.op.attributes)), parameter_(r, r.op.inputs[0]),
        gradient_(r, r.op.inputs[1]), rate_(r, r.op.inputs[2]), count_(element_count(r.input(0).shape)) {
    if (r.op.inputs.size() > 3) momentum_.emplace(r, r.op.inputs[3]);
  }
  void bind(const Addresses& a) override {
    for (Slot* s : {&parameter_, &gradient_, &rate_}) s->bind(a);
    if (momentum_) momentum_->bind(a);
  }
  void run() override {
    vector_.sgd({parameter_.floats(), gradient_.floats(), momentum_ ? momentum_->floats() : nullptr, count_,
                 *rate_.floats(), static_cast<float>(a_.momentum), static_cast<float>(a_.weight_decay)});
  }

 private:
  const VectorKernels& vector_;
  SgdAttributes a_;
  Slot parameter_, gradient_, rate_;
  std::optional<Slot> momentum_;
  int64_t count_;
};

}  // namespace

std::unique_ptr<Kernel> sgd(const KernelRequest& r) { return std::make_unique<Sgd>(r); }

}  // namespace gpusizer::cpu
