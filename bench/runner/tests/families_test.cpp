// SPDX-License-Identifier: Apache-2.0
// Every family of models is prepared and trained through the same runner, on made-up data of its kind.
#include <gtest/gtest.h>

#include "bench/runner/case_runner.hpp"
#include "bench/runner/prepared_case.hpp"

namespace gpusizer {
namespace {

CaseConfig tiny_bert() {
  CaseConfig config;
  config.model = "bert-mini";
  config.options = {.layers = 1, .hidden = 16, .heads = 2, .vocabulary = 100};
  config.buckets = {8, 16, 32};
  config.batch = 4;
  config.synthetic_samples = 50;
  config.epochs = 1;
  config.eval = true;
  return config;
}

CaseConfig tiny_lstm() {
  CaseConfig config;
  config.model = "lstm";
  config.options = {.layers = 1, .hidden = 8, .window = 6, .horizon = 2, .features = 3};
  config.batch = 8;
  config.synthetic_samples = 30;
  config.epochs = 2;
  config.eval = true;
  return config;
}

record::Case run(const CaseConfig& config) {
  const CaseConfig complete = complete_case(config);
  return run_case(complete, case_id(complete), {{}, {}, [] { return 0; }, {}});
}

std::string refusal(const CaseConfig& config) {
  try {
    prepare_case(complete_case(config));
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Families, EachBucketHasItsPrograms) {
  const PreparedCase prepared = prepare_case(complete_case(tiny_bert()));
  const auto& buckets = prepared.ranks[0].programs.buckets;
  ASSERT_EQ(buckets.size(), 3u);
  std::int64_t samples = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const EpochShape& epoch = prepared.epoch[i];
    samples += epoch.full_steps * 4 + epoch.tail_samples;
    EXPECT_EQ(buckets[i].train >= 0, epoch.full_steps > 0);
    EXPECT_EQ(buckets[i].train_tail >= 0, epoch.tail_samples > 0);
    if (buckets[i].train < 0) continue;
    const Program& program = prepared.ranks[0].programs.lowered[static_cast<std::size_t>(buckets[i].train)].program;
    EXPECT_EQ(program.find("input_ids")->shape, (Shape{4, std::int64_t{8} << i}));
  }
  EXPECT_EQ(samples, 50);
  EXPECT_EQ(prepared.loop.steps_per_epoch, prepared.steps_per_epoch());
}

TEST(Families, TextCountsTokensAndPaddingApart) {
  const record::Case record = run(tiny_bert());
  ASSERT_EQ(record.status, record::CaseStatus::ok) << record.reason;
  const auto& m = record.measurement;
  ASSERT_TRUE(m.tokens);
  EXPECT_GT(m.tokens->real_tokens, 0);
  EXPECT_GT(m.tokens->padded_tokens, 0);
  EXPECT_LE(m.tokens->real_tokens + m.tokens->padded_tokens, m.samples * 32);
  EXPECT_NEAR(*m.tokens->tokens_per_second, static_cast<double>(m.tokens->real_tokens) / *m.measured_seconds, 1e-6);
  EXPECT_EQ(record.throughput.unit, "sequences/s");
}

TEST(Families, EvaluationsHaveTheModelsOutputsAndBaselines) {
  const record::Case text = run(tiny_bert());
  ASSERT_EQ(text.training.evaluations.size(), 1u);
  const auto& outputs = text.training.evaluations[0].outputs;
  EXPECT_NEAR(*outputs.at("mlm_loss") + *outputs.at("nsp_loss"), *text.training.evaluations[0].loss, 1.0);
  EXPECT_TRUE(text.training.baselines.contains("unigram_entropy_nats"));
  EXPECT_FALSE(text.training.accuracy);
  const record::Case series = run(tiny_lstm());
  ASSERT_EQ(series.status, record::CaseStatus::ok) << series.reason;
  EXPECT_TRUE(series.training.evaluations.back().outputs.contains("mae"));
  EXPECT_TRUE(series.training.baselines.contains("persistence_mae"));
  EXPECT_FALSE(series.measurement.tokens);
  EXPECT_EQ(series.config.model_options.at("features"), "3");
  EXPECT_FALSE(series.config.model_options.contains("stem"));
}

TEST(Families, WhatDoesNotFitIsRefused) {
  CaseConfig config = tiny_bert();
  config.target_accuracy = 0.9;
  EXPECT_NE(refusal(config).find("--target-accuracy"), std::string::npos);
  config.options.head = "classification";
  EXPECT_EQ(refusal(config), "accepted");
  config.data = "fashion-mnist";
  EXPECT_NE(refusal(config).find("learns from text"), std::string::npos);
  config = tiny_lstm();
  config.data = "text:/nowhere";
  EXPECT_NE(refusal(config).find("learns from series"), std::string::npos);
}

}  // namespace
}  // namespace gpusizer
