// SPDX-License-Identifier: Apache-2.0
// The stages of a pipeline compute what one rank computes, whatever the cuts, the schedule and the precision.
#include "workloads/transforms/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gpusizer/error.hpp"
#include "workloads/lowering/memory_plan.hpp"
#include "workloads/lowering/plain_target.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/check_schedule.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"
#include "workloads/transforms/mixed_precision.hpp"
#include "workloads/transforms/recompute.hpp"
#include "workloads/transforms/tests/whole_step.hpp"

namespace gpusizer {
namespace {

struct PipelineCase {
  std::string model;
  int64_t layers;
  int32_t stages;
  int64_t micro_batches;
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  Precision precision = Precision::fp32;
  bool again = false;
};

std::ostream& operator<<(std::ostream& out, const PipelineCase& l) {
  return out << l.model << l.layers << " pp" << l.stages << " x" << l.micro_batches << " " << to_string(l.schedule)
             << " " << to_string(l.precision) << (l.again ? " recompute" : "");
}

std::vector<int32_t> stage_ranks(int32_t stages) {
  std::vector<int32_t> ranks;
  for (int32_t s = 0; s < stages; ++s) ranks.push_back(s);
  return ranks;
}

struct CutStep {
  Differentiated step;
  std::vector<PipelineStage> stages;

  std::vector<Program> programs() const {
    std::vector<Program> list;
    for (const PipelineStage& s : stages) list.push_back(s.step.program);
    return list;
  }
};

CutStep cut_step(const PipelineCase& l) {
  Differentiated one = differentiate(small_model(l.model, l.layers, 2));
  if (l.again) one = recompute(one);
  const PipelinePlan plan = plan_stages(one, l.stages);
  CutStep result{mixed_precision(accumulate_gradients(one, l.micro_batches), l.precision), {}};
  result.stages = pipeline(result.step, plan, stage_ranks(l.stages), l.schedule);
  return result;
}

class PipelineLayouts : public testing::TestWithParam<PipelineCase> {};

TEST_P(PipelineLayouts, FitTogetherAndComputeWhatOneRankDoes) {
  const CutStep c = cut_step(GetParam());
  EXPECT_EQ(check_schedule(c.programs()), std::vector<std::string>{});
  const Differentiated all = joined(c.stages, stage_ranks(GetParam().stages));
  ASSERT_EQ(all.gradients.size(), c.step.gradients.size());
  const OptimizerOptions options{.momentum = 0.9};
  WholeRun one(add_optimizer(c.step.program, c.step.gradients, options));
  WholeRun stages(add_optimizer(all.program, all.gradients, options));
  const bool tied = !c.stages[0].tied.empty();
  for (int step = 0; step < 3; ++step) {
    const StepResult wanted = one.step(step), got = stages.step(step);
    EXPECT_NEAR(got.loss, wanted.loss, tied ? 1e-6 * wanted.loss : 0);
    EXPECT_EQ(got.correct, wanted.correct);
    for (size_t i = 0; i < most_program_outputs; ++i) EXPECT_NEAR(got.outputs[i], wanted.outputs[i], 1e-4);
  }
  for (const std::string& name : one.parameters()) {
    const auto wanted = one.read(name), got = stages.read(name);
    if (tied && GetParam().precision != Precision::fp32) continue;  // another rounding of the word table's sum
    for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(got[i], wanted[i], tied ? 1e-5 : 0) << name;
  }
}

constexpr auto gpipe = PipelineSchedule::gpipe;
constexpr auto alternating = PipelineSchedule::one_forward_one_backward;
INSTANTIATE_TEST_SUITE_P(All, PipelineLayouts,
                         testing::Values(PipelineCase{"bert-mini", 2, 2, 1}, PipelineCase{"bert-mini", 2, 6, 3},
                                         PipelineCase{"bert-mini", 2, 6, 8, gpipe}, PipelineCase{"bert-mini", 4, 4, 4},
                                         PipelineCase{"bert-mini", 4, 4, 4, gpipe}, PipelineCase{"bert-mini", 4, 3, 5},
                                         PipelineCase{"bert-mini", 3, 3, 2, alternating, Precision::bf16},
                                         PipelineCase{"bert-mini", 2, 2, 3, alternating, Precision::fp16, true},
                                         PipelineCase{"bert-mini", 3, 3, 4, alternating, Precision::fp32, true},
                                         PipelineCase{"temporal", 3, 3, 4}, PipelineCase{"temporal", 2, 4, 2, gpipe},
                                         PipelineCase{"temporal", 2, 2, 3, alternating, Precision::fp16},
                                         PipelineCase{"temporal", 3, 2, 1, alternating, Precision::fp32, true},
                                         PipelineCase{"lstm", 2, 2, 4}, PipelineCase{"lstm", 3, 4, 3, gpipe},
                                         PipelineCase{"resnet8", 0, 2, 3}, PipelineCase{"resnet8", 0, 4, 4},
                                         PipelineCase{"resnet8", 0, 4, 2, gpipe, Precision::bf16},
                                         PipelineCase{"resnet8", 0, 3, 2, alternating, Precision::fp32, true}));

TEST(Pipeline, NoCutLetsAStageWaitForEver) {
  for (const char* model : {"bert-mini", "lstm"})
    for (int32_t stages = 2; stages <= most_stages(small_model(model, 3, 2)); ++stages)
      for (const int64_t micro_batches : {1, 2, 5, 9})
        for (const auto schedule : {gpipe, alternating}) {
          const PipelineCase one{model, 3, stages, micro_batches, schedule};
          EXPECT_EQ(check_schedule(cut_step(one).programs()), std::vector<std::string>{}) << one;
        }
}

TEST(Pipeline, TiesTheWordTable) {
  const CutStep c = cut_step({"bert-mini", 2, 2, 3});
  const std::string words = "bert.embeddings.word_embeddings.weight";
  for (const PipelineStage& stage : c.stages) {
    EXPECT_EQ(stage.tied, (std::map<std::string, std::vector<int32_t>>{{words, {0, 1}}}));
    const auto& p = stage.step.program;
    const auto it = std::ranges::find(stage.step.gradients, p.find(words)->id, &std::pair<TensorId, TensorId>::first);
    ASSERT_NE(it, stage.step.gradients.end());
    EXPECT_EQ(p.tensor(it->second).dtype, DType::f32);
    EXPECT_EQ(p.tensor(it->second).shape, p.find(words)->shape);
  }
}

TEST(Pipeline, TiedGradientsOfHalfPrecisionAreFullSums) {
  const CutStep c = cut_step({"bert-mini", 2, 2, 1, gpipe, Precision::fp16});
  for (const PipelineStage& stage : c.stages)
    for (const auto& [parameter, gradient] : stage.step.gradients)
      if (stage.tied.contains(stage.step.program.tensor(parameter).name)) {
        EXPECT_EQ(stage.step.program.tensor(gradient).dtype, DType::f32);
      }
}

TEST(Pipeline, EachStageHasItsOwnAndTheLastTheResults) {
  const CutStep c = cut_step({"bert-mini", 4, 4, 2});
  std::multiset<std::string> parameters;
  for (size_t s = 0; s < 4; ++s) {
    const Program& p = c.stages[s].step.program;
    EXPECT_EQ(p.loss.index >= 0, s == 3);
    EXPECT_EQ(p.outputs.size(), s == 3 ? 4u : 0u);
    EXPECT_EQ(p.batch, c.step.program.batch);
    for (const Tensor& t : p.tensors)
      if (t.role == Role::parameter) parameters.insert(t.name);
    EXPECT_NE(p.find("lengths@0"), nullptr) << "inputs are where they are read";
    EXPECT_EQ(p.find("mlm_labels@1") != nullptr, s == 3);
  }
  EXPECT_EQ(parameters.size(), c.step.gradients.size() + 1) << "only the word table is there twice";
}

TEST(Pipeline, OnlyWhatCrossesIsSent) {
  const CutStep c = cut_step({"temporal", 2, 2, 3});
  int sends = 0, receives = 0;
  for (const Operation& op : c.stages[0].step.program.operations) {
    sends += op.kind == OpKind::send;
    receives += op.kind == OpKind::receive;
    if (op.kind == OpKind::send) {
      EXPECT_EQ(op.inputs.size(), 1u);
    }
  }
  EXPECT_EQ(sends, 3);
  EXPECT_EQ(receives, 3);
}

TEST(Pipeline, AllStagesKeepTheLossScale) {
  for (const PipelineStage& stage : cut_step({"temporal", 3, 3, 2, alternating, Precision::fp16}).stages)
    EXPECT_NE(stage.step.program.find("loss_scale"), nullptr);
}

// How many micro-batches a stage has begun and not finished, at most.
int64_t most_under_way(const Program& p) {
  std::set<std::string> open;
  size_t most = 0;
  for (const Operation& op : p.operations) {
    if (op.kind != OpKind::attention && op.kind != OpKind::attention_backward) continue;
    const std::string& name = p.tensor(op.outputs[0]).name;
    const std::string micro_batch = name.substr(name.rfind('@'));
    if (op.kind == OpKind::attention)
      open.insert(micro_batch);
    else
      open.erase(micro_batch);
    most = std::max(most, open.size());
  }
  return static_cast<int64_t>(most);
}

TEST(Pipeline, SchedulesKeepTheirNumberOfMicroBatches) {
  const CutStep all = cut_step({"temporal", 4, 4, 6, gpipe}), few = cut_step({"temporal", 4, 4, 6, alternating});
  for (int64_t s = 0; s < 4; ++s) {
    EXPECT_EQ(most_under_way(all.stages[static_cast<size_t>(s)].step.program), 6);
    EXPECT_EQ(most_under_way(few.stages[static_cast<size_t>(s)].step.program), 4 - s);
  }
}

// What a stage's step needs beside what persists and what is bound.
int64_t planned_bytes(const Program& stage) {
  Target target = plain_target();
  target.tensor_bytes = [](const Tensor& t) {
    return t.role == Role::input ? 0 : element_count(t.shape) * element_bytes(t.dtype);
  };
  const std::vector<LoweredProgram> programs{lower(stage, target)};
  const MemoryPlan plan = plan_memory(programs);
  EXPECT_TRUE(check_plan(programs, plan).empty());
  return plan.transient_bytes;
}

int64_t bytes_of_largest_message(const Program& stage) {
  int64_t most = 0;
  for (const Operation& op : stage.operations)
    if (op.kind == OpKind::send || op.kind == OpKind::receive)
      for (const TensorId id : op.kind == OpKind::send ? op.inputs : op.outputs)
        most = std::max(most, element_count(stage.tensor(id).shape) * element_bytes(stage.tensor(id).dtype));
  return most;
}

TEST(Pipeline, MemoryGrowsWithTheDepthAndNotWithTheMicroBatches) {
  for (const int32_t stages : {2, 4}) {
    const CutStep few = cut_step({"temporal", 4, stages, 8, alternating});
    const CutStep many = cut_step({"temporal", 4, stages, 24, alternating});
    const CutStep all = cut_step({"temporal", 4, stages, 24, gpipe});
    for (size_t s = 0; s < static_cast<size_t>(stages); ++s) {
      const int64_t message = bytes_of_largest_message(few.stages[s].step.program);
      const int64_t of_few = planned_bytes(few.stages[s].step.program), of_many = planned_bytes(many.stages[s].step.program);
      constexpr int64_t numbers = 16 * 4 * 64;  // of 16 more micro-batches: losses and counts, which are results
      EXPECT_LE(of_many, of_few + numbers) << "stage " << s << " of " << stages << ", messages of " << message;
      EXPECT_GT(planned_bytes(all.stages[s].step.program), of_many + 8 * message) << s;
    }
  }
}

TEST(Pipeline, EvaluationIsCutAsTrainingIs) {
  const PipelinePlan plan = plan_stages(differentiate(small_model("bert-mini", 3, 2)), 3);
  const Program whole = small_model("bert-mini", 3, 4, Mode::evaluate);
  const std::vector<int32_t> ranks{0, 1, 2};
  const std::vector<Program> programs = pipeline(whole, plan, ranks);
  EXPECT_EQ(check_schedule(programs), std::vector<std::string>{});
  std::vector<PipelineStage> stages;
  for (const Program& p : programs) stages.push_back({{p, {}}, {}});
  const StepResult got = WholeRun(joined(stages, ranks).program).step(1), wanted = WholeRun(whole).step(1);
  EXPECT_EQ(got.loss, wanted.loss);
  EXPECT_EQ(got.outputs, wanted.outputs);
}

TEST(Pipeline, RefusesRanksThatDoNotFit) {
  const Differentiated step = differentiate(small_model("temporal", 2, 2));
  const PipelinePlan plan = plan_stages(step, 2);
  const std::vector<int32_t> three{0, 1, 2}, same{4, 4};
  EXPECT_THROW(pipeline(step, plan, three, gpipe), Error);
  EXPECT_THROW(pipeline(step, plan, same, gpipe), Error);
  EXPECT_THROW(pipeline_schedule("zigzag"), Error);
  EXPECT_EQ(pipeline_schedule("1f1b"), alternating);
}

}  // namespace
}  // namespace gpusizer
