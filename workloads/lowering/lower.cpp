// SPDX-License-Identifier: Apache-2.0
// Lowering: fuse, drop, schedule, measure.
#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/lowering/lowered_program.hpp"
#include "workloads/lowering/schedule.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

int64_t known_size(int64_t bytes, const std::string& of) {
  if (bytes < 0) throw Error(Fault::failed, fmt::format("the target gives {} bytes for '{}'", bytes, of));
  return bytes;
}

// What nobody reads need not be kept: a `saved` result without a reader takes no bytes, and is not to be written.
void measure(LoweredProgram& lowered, const Target& target) {
  const Program& p = lowered.program;
  const auto read_by = readers(p);
  lowered.tensor_bytes.assign(p.tensors.size(), 0);
  const auto bytes = [&](TensorId id) -> int64_t& { return lowered.tensor_bytes[static_cast<size_t>(id.index)]; };
  const auto set_plain = [&](TensorId id) {
    const Tensor& t = p.tensor(id);
    if (t.role != Role::saved) bytes(id) = known_size(target.tensor_bytes(t), t.name);
  };
  for (const Operation& op : p.operations) {
    const OperationStorage storage = target.operation_storage(p, op);
    lowered.workspace_bytes.push_back(known_size(storage.workspace_bytes, op.layer));
    for (const TensorId id : op.inputs) set_plain(id);
    for (const TensorId id : op.outputs) {
      set_plain(id);
      if (p.tensor(id).role == Role::saved && !read_by[static_cast<size_t>(id.index)].empty())
        bytes(id) = known_size(storage.saved_bytes, p.tensor(id).name);
    }
  }
}

}  // namespace

LoweredProgram lower(const Program& program, const Target& target) {
  LoweredProgram lowered{.target = target.name, .program = program};
  for (const FusionRule& fusion : target.fusions) fusion.apply(lowered.program);
  drop_unused_operations(lowered.program);
  if (target.early_updates) update_early(lowered.program);
  check_program(lowered.program);
  measure(lowered, target);
  return lowered;
}

}  // namespace gpusizer
