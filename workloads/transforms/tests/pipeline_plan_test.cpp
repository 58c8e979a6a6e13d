// SPDX-License-Identifier: Apache-2.0
// Where models are cut: balanced, as given, and not at all.
#include "workloads/transforms/pipeline_plan.hpp"

#include <gtest/gtest.h>

#include "gpusizer/error.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/facts.hpp"
#include "workloads/transforms/tests/whole_step.hpp"

namespace gpusizer {
namespace {

Differentiated default_model(const std::string& name, ModelOptions o = {}) {
  return differentiate(build_model(find_model(name), o, 2, Mode::train));
}

std::string plan_refusal(const auto& plan) {
  try {
    plan();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PipelinePlan, BertBaseAsFourTimesThree) {
  const PipelinePlan plan = plan_stages(default_model("bert-base"), {3, 3, 3, 3});
  ASSERT_EQ(plan.stages, 4);
  EXPECT_EQ(plan.stage_of_layer.at("bert.embeddings.word_embeddings"), 0);
  EXPECT_EQ(plan.stage_of_layer.at("bert.encoder.layer.2.output.LayerNorm"), 0);
  EXPECT_EQ(plan.stage_of_layer.at("bert.encoder.layer.3.attention.self.qkv"), 1);
  EXPECT_EQ(plan.stage_of_layer.at("bert.encoder.layer.9.attention.self.qkv"), 3);
  EXPECT_EQ(plan.stage_of_layer.at("cls.predictions.decoder"), 3);
  EXPECT_EQ(plan.loads[1].macs, plan.loads[2].macs);
  EXPECT_EQ(plan.loads[1].sent_bytes, int64_t{2} * 128 * 768 * 4) << "one activation, and nothing else, crosses";
}

TEST(PipelinePlan, AllWorkIsSomewhere) {
  for (const char* name : {"bert-mini", "temporal", "lstm", "resnet18", "alexnet"}) {
    const Differentiated step = default_model(name);
    for (int32_t stages = 1; stages <= most_stages(step.program); ++stages) {
      const PipelinePlan plan = plan_stages(step, stages);
      int64_t macs = 0;
      for (const StageLoad& load : plan.loads) macs += load.macs;
      EXPECT_EQ(2 * macs, facts(step.program).flops_per_sample * 2) << name << " in " << stages;
      for (const auto& [layer, stage] : plan.stage_of_layer) EXPECT_LT(stage, stages) << layer;
    }
  }
}

TEST(PipelinePlan, BalancesTheWork) {
  const Differentiated step = default_model("bert-base", {.sequence = 512});
  const PipelinePlan plan = plan_stages(step, 4);
  int64_t all = 0, most = 0;
  for (const StageLoad& load : plan.loads) all += load.macs, most = std::max(most, load.macs);
  EXPECT_LE(static_cast<double>(most), 1.2 * static_cast<double>(all) / 4);
  const Differentiated images = default_model("resnet50");
  most = all = 0;
  for (const StageLoad& load : plan_stages(images, 4).loads) all += load.macs, most = std::max(most, load.macs);
  EXPECT_LE(static_cast<double>(most), 1.2 * static_cast<double>(all) / 4);
}

TEST(PipelinePlan, GoesByNamesAndSoCutsEvaluationToo) {
  const PipelinePlan training = plan_stages(default_model("temporal", {.layers = 4}), 4);
  const Program evaluation = build_model(find_model("temporal"), {.layers = 4}, 3, Mode::evaluate);
  for (const Operation& op : evaluation.operations) EXPECT_TRUE(training.stage_of_layer.contains(op.layer)) << op.layer;
}

TEST(PipelinePlan, RefusesWithTheReason) {
  const Differentiated lstm = default_model("lstm");
  EXPECT_EQ(most_stages(lstm.program), 3) << "two layers, and the head";
  EXPECT_NE(plan_refusal([&] { plan_stages(lstm, 9); }).find("has only 3 layers that can be cut apart"),
            std::string::npos);
  EXPECT_NE(plan_refusal([&] { plan_stages(lstm, 0); }), "");
  const Differentiated bert = default_model("bert-mini");
  EXPECT_EQ(block_count(bert.program), 4);
  EXPECT_NE(plan_refusal([&] {
              plan_stages(bert, {3, 3});
            }).find("3, 3 blocks do not make the 4 blocks"),
            std::string::npos);
  EXPECT_NE(plan_refusal([&] { plan_stages(bert, {4, 0}); }), "");
  EXPECT_NE(plan_refusal([&] { plan_stages(bert, std::vector<int64_t>{}); }), "");
  EXPECT_NE(plan_refusal([&] { plan_stages(default_model("alexnet"), {1, 1}); }), "");
}

}  // namespace
}  // namespace gpusizer
