// SPDX-License-Identifier: Apache-2.0
// The order of the transforms: slices, autodiff, activation checkpointing, gradient accumulation, precision, stages,
// replicas, optimizer, shared results.
#include "bench/runner/training_step.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "workloads/program/autodiff.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/data_parallel.hpp"
#include "workloads/transforms/delayed_sum.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"
#include "workloads/transforms/mixed_precision.hpp"
#include "workloads/transforms/pipeline.hpp"
#include "workloads/transforms/recompute.hpp"
#include "workloads/transforms/shared_results.hpp"
#include "workloads/transforms/sync_batch_norm.hpp"
#include "workloads/transforms/tensor_parallel.hpp"

namespace gpusizer {
namespace {

OptimizerOptions optimizer_options(const CaseConfig& c) {
  const OptimizerKind kind = optimizer_kind(c.optimizer);
  return {.momentum = *c.momentum,
          .weight_decay = *c.weight_decay,
          .kind = kind,
          .l1 = c.l1,
          .clip_norm = c.clip_norm,
          .beta1 = c.beta1,
          .beta2 = c.beta2,
          // BERT's and LAMB's recipes leave biases and norms alone.
          .decay_vectors = kind != OptimizerKind::adamw && kind != OptimizerKind::lamb};
}

Program with_norms(const CaseConfig& c, Program forward, const RankPlace& place) {
  if (c.parallel.norm_group > 0) forward = set_norm_group(std::move(forward), c.parallel.norm_group);
  if (c.parallel.sync_batch_norm) forward = sync_batch_norm(forward, place.rank, replica_ranks(c.parallel, place));
  return forward;
}

SliceGroup slice_group(const CaseConfig& c, const RankPlace& place) {
  return {place.rank, slice_ranks(c.parallel, place)};
}

// Before anything is split into stages: every rank of a replica makes the same of it, but for slices.
Differentiated step_of_replica(const CaseConfig& c, const Program& forward, std::int64_t micro_batches,
                               const RankPlace& place) {
  const Program own = tensor_parallel(with_norms(c, forward, place), slice_group(c, place));
  Differentiated step = remove_forks(differentiate(own));
  if (c.parallel.recompute) step = recompute(step);
  return mixed_precision(accumulate_gradients(step, micro_batches), precision(c.precision));
}

// Parameters that several stages have: all ranks that have them in this slice.
std::map<std::string, std::vector<std::int32_t>> tied_ranks(
    const ParallelOptions& p, const RankPlace& place, const std::map<std::string, std::vector<std::int32_t>>& tied) {
  std::map<std::string, std::vector<std::int32_t>> ranks;
  for (const auto& [name, stages] : tied) {
    for (const std::int32_t rank : all_ranks(p)) {
      const RankPlace other = place_of(p, rank);
      const bool has_it = std::ranges::count(stages, static_cast<std::int32_t>(other.stage)) > 0;
      if (has_it && other.slice == place.slice) ranks[name].push_back(rank);
    }
    if (std::ranges::count(ranks[name], place.rank) == 0) ranks.erase(name);
  }
  return ranks;
}

std::optional<std::int32_t> delay_of(const CaseConfig& c) {
  if (c.parallel.mode != "async") return std::nullopt;
  return static_cast<std::int32_t>(c.parallel.staleness);
}

// In local SGD replicas sum no gradients.
DataParallelOptions replicas_of(const CaseConfig& c, const StepBatch& batch, const RankPlace& place) {
  const bool together = c.parallel.mode != "local_sgd";
  DataParallelOptions o;
  o.rank = place.rank;
  o.replicas = together ? replica_ranks(c.parallel, place) : std::vector<std::int32_t>{place.rank};
  o.samples = batch.samples;
  o.total_samples = together ? batch.whole_samples : batch.samples;
  o.bucket_bytes = c.parallel.bucket_mib << 20;
  if (c.parallel.bucket_mib == 0) o.bucket_bytes = o.first_bucket_bytes = INT64_MAX;  // nothing is summed before all is made
  o.first_bucket_bytes = std::min(o.first_bucket_bytes, o.bucket_bytes);
  o.delay = delay_of(c);
  o.sharded = c.parallel.sharded;
  o.model = model_ranks(c.parallel, place);
  o.world = static_cast<std::int32_t>(c.parallel.ranks());
  o.first_slice = place.slice == 0;
  return o;
}

PipelineStage stage_of_replica(const CaseConfig& c, Differentiated step, const StepLayout& layout) {
  if (c.parallel.pp == 1) return {std::move(step), {}};
  auto stages = pipeline(step, layout.stages, stage_ranks(c.parallel, layout.place),
                         pipeline_schedule(c.parallel.schedule));
  return std::move(stages.at(static_cast<std::size_t>(layout.place.stage)));
}

}  // namespace

Program whole_training_step(const CaseConfig& config, const Program& forward, std::int64_t micro_batches) {
  Differentiated step = accumulate_gradients(differentiate(forward), micro_batches);
  step = mixed_precision(std::move(step), precision(config.precision));
  return add_optimizer(std::move(step.program), step.gradients, optimizer_options(config));
}

PipelinePlan pipeline_plan(const CaseConfig& c, const Program& forward) {
  if (c.parallel.pp == 1) return {};
  const Differentiated step = differentiate(forward);
  return c.parallel.stages.empty() ? plan_stages(step, static_cast<std::int32_t>(c.parallel.pp))
                                   : plan_stages(step, c.parallel.stages);
}

Program training_step(const CaseConfig& c, const Program& forward, const StepBatch& batch, const StepLayout& layout) {
  Differentiated step = step_of_replica(c, forward, batch.micro_batches, layout.place);
  const ResultNames results = result_names(step.program);
  PipelineStage stage = stage_of_replica(c, std::move(step), layout);
  DataParallelOptions replicas = replicas_of(c, batch, layout.place);
  replicas.tied = tied_ranks(c.parallel, layout.place, stage.tied);
  const ParallelUpdate update = parallel_update(stage.step, replicas);
  stage.step = data_parallel(std::move(stage.step), replicas);
  Program program =
      add_optimizer(std::move(stage.step.program), stage.step.gradients, optimizer_options(c), update);
  if (c.parallel.ranks() == 1) return program;
  program = share_results(std::move(program), results,
                          {.rank = layout.place.rank, .ranks = all_ranks(c.parallel),
                           .contributes = layout.place.slice == 0, .delay = delay_of(c)});
  return count_delayed_steps(std::move(program));
}

Program evaluation_step(const CaseConfig& c, Program forward, const StepLayout& layout) {
  forward = remove_forks(tensor_parallel(forward, slice_group(c, layout.place)));
  forward = mixed_precision(std::move(forward), precision(c.precision));
  if (c.parallel.pp == 1) return forward;
  auto stages = pipeline(forward, layout.stages, stage_ranks(c.parallel, layout.place));
  return std::move(stages.at(static_cast<std::size_t>(layout.place.stage)));
}

}  // namespace gpusizer
