// SPDX-License-Identifier: Apache-2.0
// Two clocks: that of computation and that of the channel.
#include "bench/runner/modelled_exposure.hpp"

#include <algorithm>
#include <vector>

#include "workloads/lowering/happens_before.hpp"
#include "workloads/program/facts.hpp"

namespace gpusizer {
namespace {

double latest(const std::vector<double>& known_at, const std::vector<TensorId>& tensors) {
  double time = 0;
  for (const TensorId id : tensors) time = std::max(time, known_at[static_cast<std::size_t>(id.index)]);
  return time;
}

}  // namespace

std::optional<double> modelled_exposed_seconds(const Program& program, std::span<const double> seconds,
                                               const CollectiveSeconds& collective) {
  std::vector<double> known_at(program.tensors.size(), 0);
  double computed = 0, channel = 0, exposed = 0;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& op = program.operations[i];
    const std::int32_t stream = stream_of(op.kind);
    if (stream == send_stream || stream == receive_stream) return std::nullopt;
    const double ready = latest(known_at, op.inputs);
    double& clock = stream == compute_stream ? computed : channel;
    if (stream == compute_stream) exposed += std::max(0.0, ready - clock);
    clock = std::max(clock, ready) + (stream == compute_stream ? seconds[i] : collective(input_bytes(program, op)));
    for (const TensorId id : op.outputs) known_at[static_cast<std::size_t>(id.index)] = clock;
  }
  return exposed + std::max(0.0, channel - computed);  // the step ends with its last communication
}

}  // namespace gpusizer
