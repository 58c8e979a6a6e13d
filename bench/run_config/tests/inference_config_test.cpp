// SPDX-License-Identifier: Apache-2.0
// What an inference case may ask for, and what follows.
#include <gtest/gtest.h>

#include "bench/run_config/check_inference.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

CaseConfig infer() {
  CaseConfig c;
  c.model = "resnet8";
  c.mode = "infer";
  return c;
}

void expect_no_case(const CaseConfig& config, const std::string& flag) {
  try {
    complete_case(config);
    FAIL() << flag << " was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find(flag), std::string::npos) << error.what();
  }
}

TEST(InferenceConfig, ARequestIsOneSampleAndRunsForAWhile) {
  const CaseConfig c = complete_case(infer());
  EXPECT_EQ(c.batch, 1);
  EXPECT_EQ(c.max_seconds, 20);
  EXPECT_FALSE(trains(c));
  EXPECT_FALSE(*c.eval) << "made-up data";
  EXPECT_EQ(case_id(c), "resnet8/synthetic/b1/fp32/cpu/infer");
}

TEST(InferenceConfig, ATrainingBeforeItHasItsOwnBatchAndRecipe) {
  CaseConfig c = infer();
  c.data = "fashion-mnist";
  c.epochs = 2;
  c.batch = 4;
  c.requests = 50;
  c.precision = "int8";
  const CaseConfig done = complete_case(c), training = training_of(done);
  EXPECT_EQ(done.batch, 4);
  EXPECT_EQ(done.precision, "int8");
  EXPECT_FALSE(done.max_seconds) << "the number of requests ends it";
  EXPECT_TRUE(trains(done) && *done.eval);
  EXPECT_EQ(training.batch, 128);
  EXPECT_EQ(training.precision, "fp32");
  EXPECT_EQ(training.mode, "train");
  EXPECT_DOUBLE_EQ(*training.lr, 0.05);
  EXPECT_FALSE(training.max_seconds || *training.eval);
}

TEST(InferenceConfig, CasesThatDifferHaveDifferentNames) {
  CaseConfig c = infer();
  c.rate = 12.5;
  c.prune = 0.5;
  EXPECT_EQ(case_id(complete_case(c)), "resnet8/synthetic/b1/fp32/cpu/infer/rate12.5/prune0.5");
}

TEST(InferenceConfig, RefusesWhatCannotBe) {
  const auto with = [](auto change) {
    CaseConfig c = infer();
    change(c);
    return c;
  };
  expect_no_case(with([](CaseConfig& c) { c.mode = "dream"; }), "--mode");
  expect_no_case(with([](CaseConfig& c) { c.rate = 0; }), "--rate");
  expect_no_case(with([](CaseConfig& c) { c.requests = 0; }), "--requests");
  expect_no_case(with([](CaseConfig& c) { c.prune = 1; }), "--prune");
  expect_no_case(with([](CaseConfig& c) { c.precision = "int4"; }), "--precision");
  expect_no_case(with([](CaseConfig& c) { c.batch = 0; }), "--batch");
  expect_no_case(with([](CaseConfig& c) { c.max_seconds = -1; }), "--max-seconds");
  expect_no_case(with([](CaseConfig& c) { c.target_accuracy = 0.5; }), "--target-accuracy");
  expect_no_case(with([](CaseConfig& c) { c.checkpoint = "saved"; }), "--checkpoint");
  expect_no_case(with([](CaseConfig& c) { c.weights = "w.safetensors", c.steps = 3; }), "--weights");
}

TEST(InferenceConfig, TrainingRefusesWhatBelongsToInference) {
  const auto with = [](auto change) {
    CaseConfig c;
    c.model = "resnet8";
    change(c);
    return c;
  };
  expect_no_case(with([](CaseConfig& c) { c.rate = 10; }), "--rate");
  expect_no_case(with([](CaseConfig& c) { c.requests = 10; }), "--requests");
  expect_no_case(with([](CaseConfig& c) { c.prune = 0.5; }), "--prune");
  expect_no_case(with([](CaseConfig& c) { c.weights = "w"; }), "--weights");
  expect_no_case(with([](CaseConfig& c) { c.training_batch = 8; }), "--training-batch");
  expect_no_case(with([](CaseConfig& c) { c.precision = "int8"; }), "--mode infer");
}

}  // namespace
}  // namespace gpusizer
