// SPDX-License-Identifier: Apache-2.0
// Chooses what is rounded after an operation, and how.
#include "workloads/backend/cpu/rounding.hpp"

#include "workloads/backend/cpu/own_kernel.hpp"
#include "workloads/program/rounding.hpp"

namespace gpusizer::cpu {

RoundKernel round_kernel(const VectorKernels& vector, DType dtype) {
  switch (dtype) {
    case DType::f16: return vector.round.f16;
    case DType::bf16: return vector.round.bf16;
    case DType::tf32: return vector.round.tf32;
    default: return vector.round.none;
  }
}

namespace {

struct RoundedResult {
  RoundKernel round;
  Slot values;
  int64_t count;  // with the padding of channels, which stays zero
};

class RoundedKernel final : public Kernel {
 public:
  RoundedKernel(std::unique_ptr<Kernel> kernel, std::vector<RoundedResult> results)
      : kernel_(std::move(kernel)), results_(std::move(results)) {}
  int64_t workspace_bytes() const override { return kernel_->workspace_bytes(); }
  int64_t saved_bytes() const override { return kernel_->saved_bytes(); }
  void bind(const Addresses& addresses) override {
    kernel_->bind(addresses);
    for (RoundedResult& r : results_) r.values.bind(addresses);
  }
  void run() override {
    kernel_->run();
    for (const RoundedResult& r : results_) r.round(r.values.floats(), r.values.floats(), r.count);
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  std::vector<RoundedResult> results_;
};

}  // namespace

std::unique_ptr<Kernel> with_rounded_results(const KernelRequest& r, std::unique_ptr<Kernel> kernel) {
  if (r.op.kind == OpKind::cast) return kernel;  // rounds by itself
  std::vector<RoundedResult> results;
  for (const TensorId id : r.op.outputs) {
    const DType dtype = r.program.tensor(id).dtype;
    if (!is_rounded(dtype)) continue;
    const auto count = static_cast<int64_t>(r.layouts.stored(id).get_size() / sizeof(float));
    results.push_back({round_kernel(r.engine.vector, dtype), Slot(r, id), count});
  }
  if (results.empty()) return kernel;
  return std::make_unique<RoundedKernel>(std::move(kernel), std::move(results));
}

}  // namespace gpusizer::cpu
