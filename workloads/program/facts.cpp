// SPDX-License-Identifier: Apache-2.0
// Counts the facts of a step program.
#include "workloads/program/facts.hpp"

#include <span>

#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

void count_tensors(const Program& program, Facts& f) {
  for (const Tensor& t : program.tensors) {
    if (t.role == Role::parameter) f.parameters += element_count(t.shape);
    if (t.role == Role::state) f.state_values += element_count(t.shape);
  }
  for (const Operation& op : program.operations)
    if (op.phase == Phase::update && program.tensor(op.inputs[0]).role == Role::parameter) {
      const Tensor& gradient = program.tensor(op.inputs[1]);
      f.gradient_bytes += element_count(gradient.shape) * element_bytes(gradient.dtype);
    }
}

}  // namespace

Facts facts(const Program& program) {
  Facts f;
  f.batch = program.batch;
  count_tensors(program, f);
  int64_t step_flops = 0;
  for (const Operation& op : program.operations) {
    const auto count = rule(op.kind).macs;
    if (!count) continue;
    const int64_t macs = count(program, op);
    f.operations.push_back({op.kind, op.layer, op.phase, macs});
    f.flops_by_phase[static_cast<size_t>(op.phase)] += 2 * macs;
    step_flops += 2 * macs;
  }
  f.forward_macs_per_sample = f.flops_by_phase[0] / 2 / program.batch;
  f.flops_per_sample = step_flops / program.batch;
  return f;
}

int64_t input_bytes(const Program& program, const Operation& op) {
  int64_t bytes = 0;
  for (const TensorId id : std::span(op.inputs).first(given_inputs(op)))
    bytes += element_count(program.tensor(id).shape) * element_bytes(program.tensor(id).dtype);
  return bytes;
}

}  // namespace gpusizer
