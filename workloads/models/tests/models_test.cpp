// SPDX-License-Identifier: Apache-2.0
// The models' exact facts against published and derived counts, and their options.
#include "workloads/models/models.hpp"

#include <gtest/gtest.h>

#include "gpusizer/error.hpp"
#include "workloads/program/facts.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

Facts training_facts(const char* model, ModelOptions options = {}, int64_t batch = 1) {
  return facts(training_program(build_model(find_model(model), options, batch, Mode::train), {}));
}

TEST(Models, ResNet50HasItsExactFacts) {
  for (const int64_t batch : {1, 4}) {
    const Facts f = training_facts("resnet50", {}, batch);
    EXPECT_EQ(f.parameters, 25'557'032);
    EXPECT_EQ(f.forward_macs_per_sample, 4'089'184'256);
    EXPECT_EQ(f.flops_per_sample, 24'299'077'632);
    EXPECT_EQ(f.gradient_bytes, 4 * f.parameters);
  }
}

TEST(Models, ResNet18AndAlexNetHaveTorchvisionsParameters) {
  EXPECT_EQ(training_facts("resnet18").parameters, 11'689'512);
  EXPECT_EQ(training_facts("alexnet", {}, 2).parameters, 61'100'840);
  const Facts cifar = training_facts("resnet18", {10, 32, 1, "cifar"}, 2);
  EXPECT_EQ(cifar.parameters, 11'172'810);
}

TEST(Models, BertHasItsExactFacts) {
  const Facts base = training_facts("bert-base");
  EXPECT_EQ(base.parameters, 110'106'428);
  EXPECT_EQ(base.forward_macs_per_sample * 2, 23'309'663'232);
  EXPECT_EQ(base.flops_per_sample, 3 * 23'309'663'232);
  EXPECT_EQ(base.gradient_bytes, 4 * base.parameters);
  const Facts large = training_facts("bert-large", {}, 2);
  EXPECT_EQ(large.parameters, 336'226'108);
  EXPECT_NEAR(static_cast<double>(large.flops_per_sample), 240.6427e9, 0.00005e9);
  EXPECT_EQ(training_facts("bert-1b").parameters, 987'487'036);
  const Facts longer = training_facts("bert-base", {.sequence = 512, .predictions = 80});
  EXPECT_NEAR(static_cast<double>(longer.flops_per_sample), 301.4486e9, 0.00005e9);
}

TEST(Models, TheLstmHasItsExactFacts) {
  const Facts f = training_facts("lstm", {.window = 168, .horizon = 24, .features = 8}, 3);
  EXPECT_EQ(f.parameters, 804'888);
  EXPECT_EQ(f.forward_macs_per_sample * 2, 267'005'952);
  EXPECT_EQ(f.flops_per_sample, 798'265'344);
}

TEST(Models, EvaluationKeepsNothingForABackward) {
  for (const ModelEntry& entry : models()) {
    const Program p = build_model(entry, {}, 1, Mode::evaluate);
    for (const Operation& op : p.operations) EXPECT_NE(op.kind, OpKind::dropout) << entry.name;
    EXPECT_GE(p.loss.index, 0);
    EXPECT_EQ(p.correct.index >= 0, entry.family == "cnn") << entry.name;
  }
}

TEST(Models, UnknownNamesAndStemsAreRefused) {
  try {
    find_model("resnet5O");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::usage);
    EXPECT_NE(std::string(e.what()).find("did you mean resnet50"), std::string::npos) << e.what();
  }
  EXPECT_THROW(build_model(find_model("resnet8"), {10, 28, 1, "square"}, 1, Mode::train), Error);
  EXPECT_THROW(build_model(find_model("resnet8"), {1, 28, 1, "cifar"}, 1, Mode::train), Error);
}

TEST(Models, AnImageTooSmallNamesTheLayer) {
  try {
    build_model(find_model("alexnet"), {10, 28, 1, ""}, 1, Mode::train);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("max_pool 'pool"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace gpusizer
