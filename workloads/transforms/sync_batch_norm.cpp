// SPDX-License-Identifier: Apache-2.0
// Puts statistics, their exchange and the normalisation in the place of each batch norm; or sets its group.
#include "workloads/transforms/sync_batch_norm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/transforms/program_copy.hpp"

namespace gpusizer {

namespace {

bool takes_statistics(const Operation& op) {
  return op.kind == OpKind::batch_norm && std::get<NormAttributes>(op.attributes).training;
}

void require_batch_norm(const Program& p, const char* flag) {
  if (!has_batch_statistics(p))
    throw Error(Fault::usage, fmt::format("'{}' has no batch norm that takes statistics of its batch", p.name), flag,
                "leave the flag out for this model");
}

void add_synchronised(ProgramCopy& copy, const Operation& op, const CollectiveAttributes& group) {
  ProgramBuilder& b = copy.builder();
  std::vector<TensorId> inputs;
  for (const TensorId id : op.inputs) inputs.push_back(copy.at(id));
  const TensorId own = b.apply(OpKind::batch_norm_statistics, op.layer, {inputs[0]}, op.attributes)[0];
  inputs.push_back(b.apply(OpKind::all_gather, op.layer + ":statistics", {own}, group, Phase::communicate)[0]);
  const auto outputs = b.apply(OpKind::batch_norm_apply, op.layer, inputs, op.attributes);
  for (size_t i = 0; i < outputs.size(); ++i) copy.replace(op.outputs[i], outputs[i]);
}

}  // namespace

bool has_batch_statistics(const Program& program) { return std::ranges::any_of(program.operations, takes_statistics); }

Program sync_batch_norm(const Program& forward, int32_t rank, const std::vector<int32_t>& ranks) {
  require_batch_norm(forward, "--sync-batch-norm");
  if (ranks.size() < 2) return forward;
  ProgramCopy copy(forward, "synchronised batch norms");
  for (const Operation& op : forward.operations) {
    if (!takes_statistics(op)) {
      copy.copy(op);
      continue;
    }
    if (std::get<NormAttributes>(op.attributes).group > 0)
      throw Error(Fault::usage, "batch norms of groups are not synchronised", "layer " + op.layer,
                  "use --norm-group or --sync-batch-norm, not both");
    add_synchronised(copy, op, {.rank = rank, .ranks = ranks});
  }
  return copy.finish();
}

Program set_norm_group(const Program& forward, int64_t samples) {
  require_batch_norm(forward, "--norm-group");
  if (samples < 1 || forward.batch % samples != 0)
    throw Error(Fault::usage, fmt::format("a batch of {} is not made of groups of {}", forward.batch, samples),
                "--norm-group", "use a divisor of the batch; where that is the smaller last one of an epoch, --tail drop");
  ProgramCopy copy(forward, "groups of batch norms");
  for (const Operation& op : forward.operations) {
    Attributes attributes = op.attributes;
    if (takes_statistics(op)) std::get<NormAttributes>(attributes).group = samples;
    copy.copy(op, std::move(attributes));
  }
  return copy.finish();
}

}  // namespace gpusizer
