// SPDX-License-Identifier: Apache-2.0
// Places, orders, messages; then each stage writes its program.
#include "workloads/transforms/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gpusizer/error.hpp"
#include "workloads/transforms/pipeline_stage.hpp"

namespace gpusizer {

namespace {

struct ScheduleName {
  PipelineSchedule schedule;
  std::string_view name;
};
constexpr ScheduleName schedules[] = {{PipelineSchedule::gpipe, "gpipe"},
                                      {PipelineSchedule::one_forward_one_backward, "1f1b"}};

void require_fit(const PipelinePlan& plan, std::span<const int32_t> ranks) {
  if (ranks.size() != static_cast<size_t>(plan.stages) || plan.stages < 1)
    throw Error(Fault::usage, fmt::format("{} ranks cannot be the {} stages of a pipeline", ranks.size(), plan.stages));
  if (std::set<int32_t>(ranks.begin(), ranks.end()).size() != ranks.size())
    throw Error(Fault::usage, "one rank cannot be two stages of a pipeline");
  for (const auto& [layer, stage] : plan.stage_of_layer)
    if (stage < 0 || stage >= plan.stages)
      throw Error(Fault::usage, fmt::format("layer '{}' is planned for stage {} of {}", layer, stage, plan.stages));
}

std::vector<TensorId> result_tensors(const Program& p) {
  std::vector<TensorId> list{p.loss, p.correct};
  for (const ProgramOutput& out : p.outputs) list.insert(list.end(), {out.value, out.count});
  std::erase_if(list, [](TensorId id) { return id.index < 0; });
  return list;
}

// What stages read that another one makes.
std::vector<PipelineReads> reads_between(const PipelineStep& whole, int32_t micro_batches) {
  const Program& p = whole.step.program;
  const auto made_by = writers(p);
  std::vector<PipelineReads> reads;
  const auto add = [&](TensorId id, int32_t stage, PipelineJob job) {
    const int32_t writer = made_by[static_cast<size_t>(id.index)];
    if (writer < 0 || is_persistent(p.tensor(id).role)) return;
    const int32_t from = whole.places[static_cast<size_t>(writer)].stage;
    if (from == PipelinePlace::everywhere || from == stage) return;
    if (p.tensor(id).dtype == DType::opaque)
      throw Error(Fault::failed, fmt::format("'{}' has a form of its own and cannot be sent", p.tensor(id).name),
                  p.name);
    reads.push_back({id, writer, stage, job});
  };
  for (size_t i = 0; i < p.operations.size(); ++i) {
    const PipelinePlace& place = whole.places[i];
    if (place.stage == PipelinePlace::everywhere || whole.spread.sums.contains(static_cast<int32_t>(i))) continue;
    for (const TensorId id : p.operations[i].inputs) add(id, place.stage, place.job);
  }
  for (const TensorId id : result_tensors(p)) add(id, whole.last_stage(), {false, micro_batches - 1});
  return reads;
}

}  // namespace

std::string_view to_string(PipelineSchedule schedule) {
  return std::ranges::find(schedules, schedule, &ScheduleName::schedule)->name;
}

PipelineSchedule pipeline_schedule(std::string_view word) {
  const auto it = std::ranges::find(schedules, word, &ScheduleName::name);
  if (it == std::end(schedules))
    throw Error(Fault::usage, fmt::format("there is no pipeline schedule '{}'", word), "--pipeline-schedule",
                "use gpipe or 1f1b");
  return it->schedule;
}

std::vector<PipelineStage> pipeline(const Differentiated& step, const PipelinePlan& plan,
                                    std::span<const int32_t> ranks, PipelineSchedule schedule) {
  require_fit(plan, ranks);
  if (plan.stages == 1) return {{step, {}}};
  PipelineStep whole{.step = step,
                     .places = pipeline_places(step.program, plan),
                     .spread = {},
                     .orders = {},
                     .messages = {},
                     .ranks = {ranks.begin(), ranks.end()}};
  whole.spread = spread_gradients(step, whole.places);
  const int32_t micro_batches = micro_batch_count(whole.places);
  for (int32_t s = 0; s < plan.stages; ++s)
    whole.orders.push_back(job_order(schedule, s, plan.stages, micro_batches, !step.gradients.empty()));
  whole.messages = stage_messages(reads_between(whole, micro_batches), whole.places, whole.orders);
  std::vector<PipelineStage> stages;
  for (int32_t s = 0; s < plan.stages; ++s) stages.push_back(StageWriter(whole, s).write());
  return stages;
}

std::vector<Program> pipeline(const Program& forward, const PipelinePlan& plan, std::span<const int32_t> ranks) {
  std::vector<Program> programs;
  for (PipelineStage& stage : pipeline({forward, {}}, plan, ranks, PipelineSchedule::gpipe))
    programs.push_back(std::move(stage.step.program));
  return programs;
}

}  // namespace gpusizer
