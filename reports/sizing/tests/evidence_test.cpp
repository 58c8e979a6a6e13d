// SPDX-License-Identifier: Apache-2.0
// Tests of which cases may be used, and for which hardware each of them speaks.
#include "reports/sizing/evidence.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "reports/sizing/tests/advise_on.hpp"

namespace gpusizer::sizing {
namespace {

using record::CaseStatus;
using record::Provenance;

TEST(Evidence, ACpuRunCountsOnlyForTheInstanceItIsStatedFor) {
  const record::Case one = example_case("resnet8", 64, 1000, 10);
  const Advice unknown = advise_on({example_report({one})});
  EXPECT_FALSE(has_offers(unknown));
  ASSERT_EQ(unknown.set_aside.size(), 1u);
  EXPECT_NE(unknown.set_aside[0].reason.find("--as"), std::string::npos);
  EXPECT_EQ(unknown.set_aside[0].samples_per_second, 1000);

  const Advice stated = advise_on({example_report({one}, "C7i.XLarge")});
  ASSERT_EQ(stated.workloads[0].offers.size(), 1u);
  const Offer& offer = stated.workloads[0].offers[0];
  EXPECT_EQ(offer.instance.name, "c7i.xlarge");
  EXPECT_EQ(offer.basis, Basis::stated);
  EXPECT_TRUE(offer.warnings.empty());
  EXPECT_NEAR(offer.epoch_usd->value, 1281.167 * 0.1785 / 3600, 1e-12);
}

TEST(Evidence, ADetectedInstanceNeedsNoStatement) {
  ReportInput input = example_report({example_case("resnet8", 64, 1000, 10)});
  input.report.environment.instance = record::Instance{"aws", "c7i.xlarge", "us-east-1", "metadata service", {}};
  const Advice advice = advise_on({input});
  EXPECT_EQ(advice.workloads.at(0).offers.at(0).basis, Basis::detected);
  input.as_instance = "c7i.2xlarge";
  EXPECT_NE(advise_refusal({input}, example_goal()).find("was measured on aws c7i.xlarge"), std::string::npos);
}

TEST(Evidence, AStatementThatLooksWrongIsAWarning) {
  ReportInput input = example_report({example_case("resnet8", 64, 1000, 10)}, "c7i.xlarge");
  input.report.environment.cpu_threads = 2;
  input.report.environment.cpu_model = "AMD EPYC 9R14";
  const Advice advice = advise_on({input});
  const auto& warnings = advice.workloads.at(0).offers.at(0).warnings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("4 vCPUs, but measured with 2 CPU threads"), std::string::npos);
  EXPECT_NE(warnings[1].find("AMD EPYC 9R14"), std::string::npos);
}

// Everything that must not be recommended is set aside, and says why.
TEST(Evidence, OnlyMeasuredAndValidCasesGiveFigures) {
  std::vector<std::pair<record::Case, std::string>> bad;
  const auto add = [&](const std::string& reason) -> record::Case& {
    bad.emplace_back(example_gpu_case("NVIDIA A100-SXM4-40GB", 8, 20000, 200), reason);
    return bad.back().first;
  };
  for (const CaseStatus status :
       {CaseStatus::failed, CaseStatus::oom, CaseStatus::skipped, CaseStatus::interrupted, CaseStatus::invalid})
    add(record::to_word(status) + ": because").status = status;
  for (auto& [one, reason] : bad) one.reason = "because";
  for (const Provenance provenance : {Provenance::predicted, Provenance::emulated, Provenance::published})
    add(record::to_word(provenance) + ", not measured").throughput.provenance = provenance;
  add("not valid: the GPU was throttled").validity_flags = {{"throttled", "the GPU was throttled", true, {}}};
  add("no throughput: too short").throughput = {std::nullopt, std::nullopt, std::nullopt, "too short"};
  add("its throughput is not above 0").throughput.value = 0.0;
  add("its throughput is not above 0").throughput.value = -5.0;
  add("its throughput is not above 0").throughput.value = std::numeric_limits<double>::infinity();
  add("it counts tokens/s, not samples of the data set").throughput.unit = "tokens/s";
  add("the catalogue does not know the GPU \"Card 9000\"").config.device = "Card 9000";
  add("no instance of the catalogue has 3 x A100-SXM4-40GB").config.devices = 3;
  for (const auto& [one, reason] : bad) {
    const Advice advice = advise_on({example_report({one})});
    EXPECT_TRUE(advice.workloads.empty()) << reason;
    ASSERT_EQ(advice.set_aside.size(), 1u) << reason;
    EXPECT_EQ(advice.set_aside[0].reason, reason);
  }
}

TEST(Evidence, AFlagThatDoesNotBlockIsAWarning) {
  record::Case one = example_gpu_case("NVIDIA A100-SXM4-40GB", 8, 20000, 200);
  one.validity_flags = {{"precision_not_reached", "the interval is wider than asked", false, {}}};
  const Advice advice = advise_on({example_report({one})});
  EXPECT_EQ(advice.workloads.at(0).offers.at(0).warnings.at(0), "the interval is wider than asked");
}

TEST(Evidence, WorkloadsAreNeverMixed) {
  record::Case other_options = example_case("resnet8", 64, 2000, 10);
  other_options.config.model_options["classes"] = "10";
  record::Case other_data = example_case("resnet8", 64, 3000, 10);
  other_data.config.data = "fashion-mnist";
  const Advice advice = advise_on({example_report(
      {example_case("resnet50", 16, 10, 1), example_case("resnet8", 64, 1000, 10), other_options, other_data},
      "c7i.xlarge")});
  EXPECT_EQ(advice.workloads.size(), 4u);
  for (const WorkloadAdvice& workload : advice.workloads) EXPECT_EQ(workload.offers.size(), 1u);
}

TEST(Evidence, ThePathOfTheDataIsNoPartOfTheWorkload) {
  record::Case here = example_case("resnet8", 64, 1000, 10), there = here;
  here.config.data_options["path"] = "/a";
  there.config.data_options["path"] = "/b";
  EXPECT_EQ(advise_on({example_report({here}, "c7i.xlarge"), example_report({there}, "c7i.xlarge")}).workloads.size(),
            1u);
}

TEST(Evidence, APartOfAnInstanceSaysNothingAboutTheWhole) {
  ReportInput input = example_report({example_gpu_case("Tesla T4", 1, 500, 5)});
  input.report.environment.instance = record::Instance{"aws", "p4d.24xlarge", "", "metadata service", {}};
  const Advice advice = advise_on({input});
  ASSERT_EQ(advice.workloads.at(0).offers.size(), 1u);
  EXPECT_EQ(advice.workloads[0].offers[0].instance.name, "g4dn.xlarge");
  EXPECT_FALSE(advice.workloads[0].offers[0].warnings.empty());
}

TEST(Evidence, AJobOverSeveralMachinesIsSetAside) {
  ReportInput input = eight_gpus();
  input.report.environment.devices = {{"cuda", "NVIDIA A100-SXM4-40GB", {}, {}}};
  EXPECT_NE(advise_on({input}).set_aside.at(0).reason.find("several machines"), std::string::npos);
  for (record::Case& one : input.report.cases) one.config.parallel = record::Parallel{.transport = "threads"};
  EXPECT_TRUE(advise_on({input}).set_aside.empty()) << "ranks that are threads share one machine";
}

TEST(Evidence, APerDeviceThroughputIsTakenTimesTheDevices) {
  ReportInput input = eight_gpus();
  input.report.cases[0].throughput = {2500.0, 2475.0, 2525.0, "", "images/s", record::Scope::per_device};
  EXPECT_DOUBLE_EQ(advise_on({input}).workloads.at(0).offers.at(0).samples_per_second.value, 20000);
}

TEST(Evidence, ACpuRunSaysNothingAboutAGpuInstance) {
  const Advice advice = advise_on({example_report({example_case("resnet8", 64, 1000, 10)}, "g4dn.xlarge")});
  EXPECT_NE(advice.set_aside.at(0).reason.find("rented for its GPUs"), std::string::npos);
}

TEST(Evidence, ACpuInstanceStatedForAGpuRunIsNotUsed) {
  ReportInput input = eight_gpus();
  input.as_instance = "c7i.xlarge";
  const Advice advice = advise_on({input});
  ASSERT_EQ(advice.workloads.at(0).offers.size(), 4u);
  EXPECT_EQ(advice.workloads[0].offers[0].basis, Basis::same_gpus);
  EXPECT_NE(advice.workloads[0].offers[0].warnings.at(0).find("--as c7i.xlarge"), std::string::npos);
}

TEST(Evidence, AGpuInstanceWithOtherGpusStatedForAGpuRunIsSetAside) {
  ReportInput input = eight_gpus();
  input.as_instance = "g4dn.xlarge";
  EXPECT_EQ(advise_on({input}).set_aside.at(0).reason,
            "it ran on 8 x A100-SXM4-40GB, not on g4dn.xlarge, which has 1 x T4");
}

TEST(Evidence, ACopyOfAReportCountsOnce) {
  ReportInput copy = eight_gpus();
  copy.name = "copy.json";
  const Advice advice = advise_on({eight_gpus(), copy});
  EXPECT_EQ(advice.workloads.at(0).figures.at(0).cases.size(), 1u);
  ASSERT_EQ(advice.set_aside.size(), 1u);
  EXPECT_EQ(advice.set_aside[0].reason, "counted already: the same measurement is in r.json");
  copy.report.environment.host_name = "another";
  EXPECT_EQ(advise_on({eight_gpus(), copy}).workloads.at(0).figures.at(0).cases.size(), 2u);
}

TEST(Evidence, ACopyCountsWhereTheFirstCouldNot) {
  const record::Case one = example_case("resnet8", 64, 1000, 10);
  EXPECT_TRUE(has_offers(advise_on({example_report({one}), example_report({one}, "c7i.xlarge")})));
}

TEST(Evidence, AThroughputBeyondCountingIsSetAside) {
  for (const double rate : {1e-308, 1e308}) {
    const Advice advice = advise_on({example_report({example_gpu_case("NVIDIA A100-SXM4-40GB", 8, rate, 0)}), eight_gpus()});
    EXPECT_EQ(advice.set_aside.size(), rate < 1 ? 1u : 0u);
  }
  ReportInput input = eight_gpus();
  input.report.cases[0].throughput.low = 1e-308;
  EXPECT_FALSE(advise_on({input}).workloads.at(0).offers.at(0).total_seconds.high);
}

TEST(Evidence, AHeadingLeavesOutSentencesAndRepetitions) {
  const Workload workload{"resnet8", {{"classes", "10"}}, "cifar10",
                          {{"classes", "10"}, {"preparation", "scaled, mean and deviation of each channel"}}, "sgd", ""};
  EXPECT_EQ(to_text(workload), "resnet8 (classes=10) on cifar10, sgd");
}

}  // namespace
}  // namespace gpusizer::sizing
