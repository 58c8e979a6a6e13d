// SPDX-License-Identifier: Apache-2.0
// The order of trust, and that what was predicted is never evidence.
#include "bench/simulation/prediction.hpp"

#include <gtest/gtest.h>

namespace gpusizer {
namespace {

using record::Provenance;
using scaling::Evidence;

double linear_rate(const RunPlace& place) { return 100.0 * double(place.devices); }

RunPlace at(std::int64_t devices, std::int64_t nodes = 1) { return {"V100-SXM2-16GB", devices, nodes, "fp16", 32}; }

TEST(Prediction, TheSamePlaceIsTakenAsItIs) {
  const KnownRate known[] = {{at(8), 700, Provenance::published, "somebody"}, {at(1), 95, Provenance::measured, "r.json"}};
  const PredictedRate rate = predict_rate(at(8), known, linear_rate);
  EXPECT_DOUBLE_EQ(rate.samples_per_second, 700);
  EXPECT_EQ(rate.evidence, Evidence::measured);
  EXPECT_EQ(rate.provenance, Provenance::published);
  ASSERT_EQ(rate.from.size(), 1U);
  EXPECT_NE(rate.from[0].find("somebody"), std::string::npos);
}

TEST(Prediction, OtherCountsByTheTieredModel) {
  const KnownRate known[] = {{at(1), 100, Provenance::measured, "r"}, {at(8), 760, Provenance::measured, "r"}};
  const PredictedRate inside = predict_rate(at(4), known, linear_rate), across = predict_rate(at(16, 2), known, linear_rate),
                      far = predict_rate(at(64, 8), known, linear_rate);
  EXPECT_EQ(inside.evidence, Evidence::interpolated);
  EXPECT_NEAR(inside.samples_per_second, 385, 10);
  EXPECT_EQ(inside.provenance, Provenance::predicted);
  EXPECT_EQ(across.evidence, Evidence::extrapolated);
  EXPECT_EQ(across.warnings.size(), 1U);
  EXPECT_EQ(far.warnings.size(), 2U);
  EXPECT_GT(across.high / across.low, inside.high / inside.low);
  EXPECT_GT(far.high / far.low, across.high / across.low);
}

TEST(Prediction, ElsewhereCorrectsTheSimulation) {
  RunPlace other = at(1);
  other.gpu = "A100-SXM4-80GB";
  const KnownRate known[] = {{other, 80, Provenance::measured, "r"}};
  const PredictedRate rate = predict_rate(at(1), known, linear_rate), alone = predict_rate(at(1), {}, linear_rate);
  EXPECT_DOUBLE_EQ(rate.samples_per_second, 80);
  EXPECT_EQ(rate.evidence, Evidence::predicted);
  EXPECT_DOUBLE_EQ(alone.samples_per_second, 100);
  EXPECT_GT(alone.high / alone.low, rate.high / rate.low);
}

TEST(Prediction, APredictionIsNoEvidence) {
  const KnownRate known[] = {{at(8), 5, Provenance::predicted, "p.json"}, {at(8), 5, Provenance::emulated, "e.json"}};
  EXPECT_DOUBLE_EQ(predict_rate(at(8), known, linear_rate).samples_per_second, 800);
}

}  // namespace
}  // namespace gpusizer
