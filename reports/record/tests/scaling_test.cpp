// SPDX-License-Identifier: Apache-2.0
// Speed-up and efficiency: of what, against what, and how sure.
#include "reports/record/scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reports/record/check.hpp"
#include "reports/record/tests/example_report.hpp"

namespace gpusizer::record {
namespace {

Case on_ranks(std::int64_t ranks, double value, double half, std::int64_t batch = 100, const char* scaling = "weak") {
  Case run = ranks == 1 ? example_case() : example_ranks_case();
  run.id = "ranks" + std::to_string(ranks);
  run.config.devices = run.config.replicas = ranks;
  run.config.batch_per_replica = batch;
  if (run.config.parallel) {
    run.config.parallel->dp = run.config.parallel->ranks = ranks;
    run.config.parallel->scaling = scaling;
  }
  run.throughput.value = value;
  run.throughput.low = value - half;
  run.throughput.high = value + half;
  return run;
}

Report of(std::vector<Case> cases) {
  Report report = example_report();
  report.cases = std::move(cases);
  fill_scaling(report);
  return report;
}

TEST(Scaling, WeakIsAgainstTheSmallestLayoutOfTheSameBatchPerReplica) {
  const Report report = of({on_ranks(1, 100, 1), on_ranks(2, 190, 3.8), on_ranks(4, 300, 3), on_ranks(1, 90, 1, 50)});
  EXPECT_FALSE(report.cases[0].scaling) << "the baseline is compared with nothing";
  ASSERT_TRUE(report.cases[1].scaling && report.cases[2].scaling);
  const Scaling& two = *report.cases[1].scaling;
  EXPECT_EQ(two.kind, "weak");
  EXPECT_EQ(two.baseline_case, "ranks1");
  EXPECT_DOUBLE_EQ(two.speedup->value, 1.9);
  EXPECT_DOUBLE_EQ(two.efficiency->value, 0.95);
  EXPECT_DOUBLE_EQ(report.cases[2].scaling->efficiency->value, 0.75);
}

TEST(Scaling, TheIntervalJoinsBothErrors) {
  const Ratio speedup = *of({on_ranks(1, 100, 1), on_ranks(2, 190, 3.8)}).cases[1].scaling->speedup;
  const double down = std::hypot(std::log(190 / 186.2), std::log(101 / 100.0));
  EXPECT_NEAR(speedup.low, 1.9 * std::exp(-down), 1e-12);
  EXPECT_NEAR((speedup.high - 1.9) / 1.9, std::hypot(0.02, 0.01), 5e-4);
}

TEST(Scaling, StrongComparesOneBatchOfTheJob) {
  const Report report = of({on_ranks(1, 100, 1, 64), on_ranks(4, 320, 3, 16, "strong"), on_ranks(1, 90, 1, 16)});
  EXPECT_EQ(report.cases[1].scaling->kind, "strong");
  EXPECT_DOUBLE_EQ(report.cases[1].scaling->efficiency->value, 0.8);
}

TEST(Scaling, WithoutOneRankTheSmallestLayoutServes) {
  const Report report = of({on_ranks(4, 300, 3), on_ranks(2, 190, 3)});
  EXPECT_EQ(report.cases[0].scaling->baseline_ranks, 2);
  EXPECT_NEAR(report.cases[0].scaling->efficiency->value, 300 / 190.0 / 2, 1e-12);
  EXPECT_FALSE(report.cases[1].scaling);
}

TEST(Scaling, OtherWorkloadsFailedCasesAndUnknownIntervalsAreNotCompared) {
  Case other = on_ranks(1, 100, 1);
  other.config.precision = "bf16";
  EXPECT_FALSE(of({other, on_ranks(2, 190, 3)}).cases[1].scaling);
  Case failed = on_ranks(1, 100, 1);
  failed.status = CaseStatus::failed;
  EXPECT_FALSE(of({failed, on_ranks(2, 190, 3)}).cases[1].scaling);
  Case vague = on_ranks(1, 100, 1);
  vague.throughput.low.reset();
  const Scaling scaling = *of({vague, on_ranks(2, 190, 3)}).cases[1].scaling;
  EXPECT_FALSE(scaling.speedup || scaling.efficiency);
  EXPECT_NE(scaling.null_reason, "");
}

TEST(Scaling, AsynchronousTrainingIsNotComparedWithSynchronous) {
  const auto late = [](std::int64_t ranks, std::int64_t staleness) {
    Case run = on_ranks(ranks, 100.0 * static_cast<double>(ranks), 3);
    run.config.parallel->mode = "async";
    run.config.parallel->staleness = staleness;
    return run;
  };
  EXPECT_FALSE(of({on_ranks(1, 100, 1), late(2, 1)}).cases[1].scaling);
  EXPECT_FALSE(of({late(2, 1), late(4, 2)}).cases[1].scaling);
  EXPECT_FALSE(of({late(2, 0), on_ranks(4, 190, 3)}).cases[1].scaling);
  EXPECT_EQ(of({on_ranks(1, 100, 1), late(2, 1), late(4, 1)}).cases[2].scaling->baseline_ranks, 2);
}

TEST(Scaling, RanksOfAnotherSizeHaveNoEfficiency) {
  Case wide = on_ranks(1, 100, 1);
  wide.config.threads = 8;
  const Scaling scaling = *of({wide, on_ranks(2, 95, 1)}).cases[1].scaling;
  EXPECT_DOUBLE_EQ(scaling.speedup->value, 0.95);
  EXPECT_FALSE(scaling.efficiency);
  EXPECT_NE(scaling.null_reason.find("threads"), std::string::npos);
  Case narrow = on_ranks(1, 60, 1);
  narrow.id = "narrow";
  EXPECT_EQ(of({wide, narrow, on_ranks(2, 95, 1)}).cases[2].scaling->baseline_case, "narrow");
}

TEST(Scaling, IsComputedAnewEachTime) {
  Report report = of({on_ranks(1, 100, 1), on_ranks(2, 190, 3)});
  report.cases.erase(report.cases.begin());
  fill_scaling(report);
  EXPECT_FALSE(report.cases[0].scaling);
}

std::vector<std::string> problems_with(void (*change)(Case&)) {
  Report report = example_report();
  change(report.cases[3]);
  std::vector<std::string> places;
  for (const Problem& problem : check_report(report)) places.push_back(problem.pointer);
  return places;
}

TEST(CheckRanks, TheExampleIsFine) {
  EXPECT_TRUE(problems_with([](Case&) {}).empty());
}

TEST(CheckRanks, NamesWhatDoesNotAgree) {
  using Places = std::vector<std::string>;
  EXPECT_EQ(problems_with([](Case& c) { c.config.parallel->pp = 2; }), Places{"/cases/3/config/parallel/ranks"});
  EXPECT_EQ(problems_with([](Case& c) { c.config.parallel->tp = 0; }), Places{"/cases/3/config/parallel/dp"});
  EXPECT_EQ(problems_with([](Case& c) { c.config.parallel->stages = {2, 2}; }), Places{"/cases/3/config/parallel/stages"});
  EXPECT_EQ(problems_with([](Case& c) { c.communication->slowest_rank = 2; }), Places{"/cases/3/communication/slowest_rank"});
  EXPECT_EQ(problems_with([](Case& c) { c.communication->rank_step_seconds = {0.1}; }),
            Places{"/cases/3/communication/rank_step_seconds"});
  EXPECT_EQ(problems_with([](Case& c) { c.communication->worst_exposed_seconds = 0.001; }),
            Places{"/cases/3/communication/worst_exposed_seconds"});
  EXPECT_EQ(problems_with([](Case& c) { c.communication->all_reduces[0].bytes = 0; }),
            Places{"/cases/3/communication/all_reduces/0/bytes"});
  EXPECT_EQ(problems_with([](Case& c) { c.scaling->speedup->low = 3; }), Places{"/cases/3/scaling/speedup/low"});
  EXPECT_EQ(problems_with([](Case& c) { c.scaling->kind = "odd"; }), Places{"/cases/3/scaling/kind"});
  EXPECT_EQ(problems_with([](Case& c) { c.phases.communicate_seconds = -1; }), Places{"/cases/3/phases/communicate_seconds"});
}

TEST(CheckRanks, ASimulatedWireIsNeverAMeasurement) {
  EXPECT_EQ(problems_with([](Case& c) { c.config.parallel->wire = Wire{0.001, 125e6, {}}; }),
            (std::vector<std::string>{"/cases/3/throughput/provenance", "/cases/3/validity_flags"}));
  EXPECT_TRUE(problems_with([](Case& c) {
                c.config.parallel->wire = Wire{0.001, 125e6, {}};
                c.throughput.provenance = Provenance::emulated;
                c.validity_flags = {{"simulated_wire", "Messages were delayed.", true, {}}};
              }).empty());
}

TEST(FingerprintOfRanks, TheLayoutIsPartOfTheIdentity) {
  const auto identity = [](auto change) {
    Config config = example_ranks_case().config;
    change(config);
    return make_fingerprint(config, example_environment(), {}).identity_hash;
  };
  const std::string usual = identity([](Config&) {});
  EXPECT_NE(identity([](Config& c) { c.parallel->transport = "mpi"; }), usual);
  EXPECT_NE(identity([](Config& c) { c.parallel->sharded_optimizer = false; }), usual);
  EXPECT_NE(identity([](Config& c) { c.parallel->dp = 1, c.parallel->tp = 2; }), usual);
  EXPECT_NE(identity([](Config& c) { c.parallel->wire = Wire{0.001, 0, {}}; }), usual);
  EXPECT_EQ(identity([](Config& c) { c.parallel->scaling = "strong"; }), usual) << "the same work, asked for otherwise";
}

}  // namespace
}  // namespace gpusizer::record
