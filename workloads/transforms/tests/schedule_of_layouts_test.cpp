// SPDX-License-Identifier: Apache-2.0
// All transforms together, for many layouts: the ranks' programs fit together, and no rank waits for ever.
#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/transforms/check_schedule.hpp"
#include "workloads/transforms/data_parallel.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"
#include "workloads/transforms/mixed_precision.hpp"
#include "workloads/transforms/pipeline.hpp"
#include "workloads/transforms/recompute.hpp"
#include "workloads/transforms/shared_results.hpp"
#include "workloads/transforms/tensor_parallel.hpp"
#include "workloads/transforms/tests/whole_step.hpp"

namespace gpusizer {
namespace {

struct WorldCase {
  std::string model;
  int32_t replicas, stages, slices;
  int64_t micro_batches = 1;
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  bool sharded = false, again = false;
  Precision precision = Precision::fp32;

  int32_t world() const { return replicas * stages * slices; }
  int32_t rank(int32_t replica, int32_t stage, int32_t slice) const {
    return (replica * stages + stage) * slices + slice;
  }
};

std::ostream& operator<<(std::ostream& out, const WorldCase& c) {
  return out << c.model << " dp" << c.replicas << " pp" << c.stages << " tp" << c.slices << " x" << c.micro_batches
             << " " << to_string(c.schedule) << (c.sharded ? " sharded " : " ") << to_string(c.precision);
}

// One rank's training step, in the order in which a run applies the transforms.
Program step_of(const WorldCase& c, int32_t replica, int32_t stage, int32_t slice) {
  const int32_t rank = c.rank(replica, stage, slice);
  SliceGroup group{.rank = rank, .ranks = {}};
  std::vector<int32_t> stages, all;
  DataParallelOptions options{.rank = rank, .replicas = {}, .samples = 2, .total_samples = 2 * c.replicas};
  options.bucket_bytes = options.first_bucket_bytes = 1024;
  options.sharded = c.sharded, options.world = c.world(), options.first_slice = slice == 0;
  for (int32_t s = 0; s < c.slices; ++s) group.ranks.push_back(c.rank(replica, stage, s));
  for (int32_t s = 0; s < c.stages; ++s) stages.push_back(c.rank(replica, s, slice));
  for (int32_t r = 0; r < c.replicas; ++r) options.replicas.push_back(c.rank(r, stage, slice));
  for (int32_t r = 0; r < c.world(); ++r) all.push_back(r);
  for (int32_t s = 0; s < c.stages * c.slices; ++s) options.model.push_back(replica * c.stages * c.slices + s);
  const Program forward = small_model(c.model, 4, 2);
  const PipelinePlan plan = plan_stages(differentiate(forward), c.stages);
  Differentiated step = remove_forks(differentiate(tensor_parallel(forward, group)));
  if (c.again) step = recompute(step);
  step = mixed_precision(accumulate_gradients(step, c.micro_batches), c.precision);
  const ResultNames names = result_names(step.program);
  PipelineStage own = pipeline(step, plan, stages, c.schedule).at(static_cast<size_t>(stage));
  for (const auto& [name, holders] : own.tied)
    for (int32_t r = 0; r < c.replicas; ++r)
      for (const int32_t s : holders)
        if (std::ranges::count(holders, stage) > 0) options.tied[name].push_back(c.rank(r, s, slice));
  const ParallelUpdate update = parallel_update(own.step, options);
  const Differentiated summed = data_parallel(std::move(own.step), options);
  Program updated = add_optimizer(summed.program, summed.gradients, {.clip_norm = 1}, update);
  return share_results(std::move(updated), names, {.rank = rank, .ranks = all, .contributes = slice == 0});
}

class SchedulesOfWorlds : public testing::TestWithParam<WorldCase> {};

TEST_P(SchedulesOfWorlds, ComeToTheirEnd) {
  const WorldCase& c = GetParam();
  std::vector<Program> programs;
  for (int32_t replica = 0; replica < c.replicas; ++replica)
    for (int32_t stage = 0; stage < c.stages; ++stage)
      for (int32_t slice = 0; slice < c.slices; ++slice) programs.push_back(step_of(c, replica, stage, slice));
  EXPECT_EQ(check_schedule(programs), std::vector<std::string>{});
}

constexpr auto all_forward = PipelineSchedule::gpipe;
constexpr auto in_turn = PipelineSchedule::one_forward_one_backward;
INSTANTIATE_TEST_SUITE_P(
    Worlds, SchedulesOfWorlds,
    testing::Values(WorldCase{"bert-mini", 2, 1, 1}, WorldCase{"bert-mini", 4, 1, 1, 4, in_turn, true},
                    WorldCase{"bert-mini", 1, 4, 1, 8}, WorldCase{"bert-mini", 2, 2, 1, 2, all_forward},
                    WorldCase{"bert-mini", 2, 2, 1, 4, in_turn, true}, WorldCase{"bert-mini", 1, 1, 2, 2},
                    WorldCase{"bert-mini", 1, 2, 2, 1}, WorldCase{"bert-mini", 2, 2, 2, 1},
                    WorldCase{"bert-mini", 2, 2, 2, 3}, WorldCase{"bert-mini", 2, 2, 2, 3, all_forward, true, true},
                    WorldCase{"bert-mini", 1, 3, 2, 5, in_turn, false, true, Precision::fp16},
                    WorldCase{"bert-mini", 3, 4, 1, 1, in_turn, false, false, Precision::bf16},
                    WorldCase{"temporal", 2, 2, 2, 4, in_turn, true, false, Precision::fp16},
                    WorldCase{"temporal", 1, 4, 2, 6, all_forward}, WorldCase{"lstm", 2, 3, 1, 4},
                    WorldCase{"resnet8", 2, 4, 1, 4}, WorldCase{"resnet8", 4, 2, 1, 2, all_forward, true, true}));

}  // namespace
}  // namespace gpusizer
