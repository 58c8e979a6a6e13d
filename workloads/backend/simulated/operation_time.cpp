// SPDX-License-Identifier: Apache-2.0
// The roofline of each operation, with the efficiency of its kind.
#include "workloads/backend/simulated/operation_time.hpp"

#include <algorithm>
#include <set>

#include "workloads/lowering/happens_before.hpp"
#include "workloads/lowering/plain_target.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer::simulated {
namespace {

double efficiency_of(OpKind kind, const Efficiencies& efficiency) {
  switch (kind) {
    case OpKind::conv2d:
    case OpKind::conv2d_backward_data:
    case OpKind::conv2d_backward_weights: return efficiency.convolution;
    case OpKind::attention:
    case OpKind::attention_backward: return efficiency.attention;
    default: return efficiency.linear;
  }
}

// By the first input that has a floating-point type.
double peak_of(const Program& program, const Operation& op, const DeviceDescription& device) {
  for (const TensorId id : op.inputs) switch (program.tensor(id).dtype) {
      case DType::f16:
      case DType::bf16: return device.half_flops;
      case DType::tf32: return device.tf32_flops;
      case DType::f32: return device.fp32_flops;
      default: break;
    }
  return device.fp32_flops;
}

bool is_a_name(OpKind kind) { return kind == OpKind::flatten || kind == OpKind::flatten_backward || kind == OpKind::fork; }

}  // namespace

double moved_bytes(const LoweredProgram& lowered, const Operation& op) {
  std::set<std::int32_t> seen;
  double bytes = 0;
  for (const TensorId id : op.inputs)
    if (id.index >= 0 && seen.insert(id.index).second) bytes += double(lowered.tensor_bytes[static_cast<std::size_t>(id.index)]);
  for (const TensorId id : op.outputs)
    if (id.index >= 0) bytes += double(lowered.tensor_bytes[static_cast<std::size_t>(id.index)]);
  // Rows that are looked up are read, not the table.
  if (op.kind == OpKind::gather_rows) bytes = 2 * double(lowered.tensor_bytes[static_cast<std::size_t>(op.outputs[0].index)]);
  return bytes;
}

OperationTime operation_time(const LoweredProgram& lowered, const Operation& op, const DeviceDescription& device) {
  if (is_a_name(op.kind) || stream_of(op.kind) != compute_stream) return {};
  const auto count = rule(op.kind).macs;
  const double flops = count ? 2.0 * double(count(lowered.program, op)) : 0, bytes = moved_bytes(lowered, op);
  const double peak = peak_of(lowered.program, op, device);
  return {.compute_seconds = flops / (peak * efficiency_of(op.kind, device.efficiency)),
          .memory_seconds = bytes / (device.memory_bytes_per_second * device.efficiency.memory),
          .launch_seconds = device.launch_seconds,
          .floor_seconds = std::max(flops / peak, bytes / device.memory_bytes_per_second)};
}

Target simulated_target() {
  Target target = plain_target();
  target.name = "simulated";
  return target;
}

}  // namespace gpusizer::simulated
