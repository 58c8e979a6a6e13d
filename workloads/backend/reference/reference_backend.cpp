// SPDX-License-Identifier: Apache-2.0
// What the reference backend says of itself, and its targets.
#include "workloads/backend/reference/reference_backend.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/backend/reference/reference_executor.hpp"
#include "workloads/lowering/fusion.hpp"
#include "workloads/lowering/happens_before.hpp"

namespace gpusizer {

namespace {

constexpr FusionRule all_fusions[] = {fuse_batch_norm_add_relu, fuse_batch_norm_relu, fuse_conv_relu, fuse_add_relu,
                                      keep_relu_result, fuse_dropout_add};

int64_t double_bytes(const Tensor& t) { return element_count(t.shape) * static_cast<int64_t>(sizeof(double)); }

OperationStorage storage(const Program& p, const Operation& op) {
  if (stream_of(op.kind) != compute_stream) return {};
  const auto saved = reference::kernel(op.kind).saved_elements;
  return {.saved_bytes = saved ? saved(p, op) * static_cast<int64_t>(sizeof(double)) : 0};
}

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::string_view description() const override {
    return "plain loops in double on one core: the right numbers, never a speed";
  }
  Probe probe() const override {
    const auto memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    return {{{"reference", "reference", "plain loops in double", 1, memory}}, ""};
  }
  Target target(const Device&) const override { return reference_target(); }
  std::unique_ptr<Executor> make_executor(std::vector<LoweredProgram> programs, const Device&,
                                          Communicator* communicator) const override {
    for (const LoweredProgram& p : programs)
      if (p.target != reference_target().name && p.target != reference_fused_target().name)
        throw Error(Fault::usage, fmt::format("program '{}' was lowered for '{}'", p.program.name, p.target),
                    "reference backend");
    return std::make_unique<ReferenceExecutor>(std::move(programs), communicator);
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

Target reference_target() {
  return {.name = "reference", .fusions = {}, .tensor_bytes = double_bytes, .operation_storage = storage};
}

Target reference_fused_target() {
  return {.name = "reference_fused", .fusions = all_fusions, .early_updates = true, .tensor_bytes = double_bytes,
          .operation_storage = storage};
}

}  // namespace gpusizer
