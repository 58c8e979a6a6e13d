// SPDX-License-Identifier: Apache-2.0
// Sums over the ranks, and writes sum / ranks where the value was.
#include "workloads/transforms/state_average.hpp"

#include <fmt/format.h>

#include "workloads/program/builder.hpp"

namespace gpusizer {

namespace {

// The sums of all lists first: one is under way while the next value before it is computed.
void average(ProgramBuilder& b, const std::vector<std::vector<TensorId>>& lists, int32_t rank,
             const std::vector<int32_t>& ranks, const char* what) {
  std::vector<std::vector<TensorId>> sums;
  for (const auto& list : lists)
    sums.push_back(b.apply(OpKind::all_reduce, fmt::format("{}.{}", what, sums.size()), list,
                           CollectiveAttributes{rank, ranks}, Phase::communicate));
  const ScaleAttributes share{1.0 / static_cast<double>(ranks.size())};
  for (size_t i = 0; i < lists.size(); ++i)
    for (size_t j = 0; j < lists[i].size(); ++j)
      b.apply(OpKind::scale, b.program().tensor(lists[i][j]).name + ":mean", {lists[i][j], sums[i][j]}, share,
              Phase::update);
}

}  // namespace

std::optional<Program> average_states(const Program& training, int32_t rank, const std::vector<int32_t>& ranks) {
  ProgramBuilder b{training.name + ": means of states", 1};
  std::vector<TensorId> states;
  for (const Tensor& t : training.tensors)
    if (t.role == Role::state) states.push_back(b.persistent(t.name, t.shape, t.role, t.initial, t.dtype));
  if (states.empty() || ranks.size() < 2) return std::nullopt;
  average(b, {states}, rank, ranks, "states");
  return b.finish();
}

Program average_parameters(Program training, int32_t rank, const std::vector<int32_t>& ranks, int64_t bucket_bytes) {
  if (ranks.size() < 2) return training;
  ProgramBuilder b{std::move(training)};
  std::vector<std::vector<TensorId>> buckets;
  int64_t bytes = bucket_bytes;
  for (const Operation& op : b.program().operations) {  // in the order in which they are updated
    const Tensor& t = b.program().tensor(op.inputs.empty() ? TensorId{0} : op.inputs[0]);
    if (op.phase != Phase::update || t.role != Role::parameter || op.outputs.empty() || op.outputs[0] != t.id) continue;
    if (bytes >= bucket_bytes) {
      buckets.emplace_back();
      bytes = 0;
    }
    buckets.back().push_back(t.id);
    bytes += element_count(t.shape) * element_bytes(t.dtype);
  }
  average(b, buckets, rank, ranks, "parameters");
  return b.finish();
}

}  // namespace gpusizer
