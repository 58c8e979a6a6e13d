// SPDX-License-Identifier: Apache-2.0
// Tests of the answer: what is recommended, what is only shown, and what it costs.
#include "reports/sizing/advise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "reports/sizing/tests/advise_on.hpp"

namespace gpusizer::sizing {
namespace {

const Offer* offer_of(const WorkloadAdvice& advice, const std::string& name, const std::string& region = "",
                      const std::string& market = "on-demand") {
  for (const Offer& offer : advice.offers)
    if (offer.instance.name == name && (region.empty() || offer.instance.region == region) &&
        (!offer.price || offer.price->market == market))
      return &offer;
  return nullptr;
}

TEST(Advise, AGpuRunHoldsForEveryInstanceWithTheSameGpusAndNoOther) {
  const Advice advice = advise_on({eight_gpus()});
  ASSERT_EQ(advice.workloads.size(), 1u);
  const WorkloadAdvice& workload = advice.workloads[0];
  ASSERT_EQ(workload.offers.size(), 4u);
  for (const Offer& offer : workload.offers) {
    EXPECT_EQ(offer.instance.gpu, "A100-SXM4-40GB");
    EXPECT_EQ(offer.basis, Basis::same_gpus);
    EXPECT_NEAR(offer.epoch_seconds.value, 64.05835, 1e-9);
    EXPECT_NEAR(offer.total_seconds.value, 90 * 64.05835, 1e-6);
  }
  const Offer* aws = offer_of(workload, "p4d.24xlarge");
  EXPECT_NEAR(aws->epoch_usd->value, 64.05835 * 21.9576 / 3600, 1e-12);
  EXPECT_NEAR(*aws->epoch_usd->high, 1'281'167 / 19800.0 * 21.9576 / 3600, 1e-12);
  EXPECT_NEAR(aws->total_usd->value, 5766 * 21.9576 / 3600, 1e-9) << "5765.25 s are billed as 5766 s";
}

TEST(Advise, MarksCheapestFastestAndPareto) {
  const Advice advice = advise_on({eight_gpus(), example_report({example_gpu_case("Tesla T4", 1, 500, 5)})});
  ASSERT_EQ(advice.workloads.size(), 1u) << "the same workload on other hardware is compared";
  const WorkloadAdvice& workload = advice.workloads[0];
  const Offer* t4 = offer_of(workload, "g4dn.xlarge");
  const Offer* p4d = offer_of(workload, "p4d.24xlarge");
  const Offer* a2 = offer_of(workload, "a2-highgpu-8g", "us-central1");
  EXPECT_EQ(&workload.offers.front(), t4->total_usd->value < p4d->total_usd->value ? t4 : p4d);
  EXPECT_TRUE(t4->cheapest);
  EXPECT_TRUE(t4->recommended);
  EXPECT_TRUE(t4->pareto);
  EXPECT_TRUE(p4d->pareto);
  EXPECT_TRUE(p4d->fastest) << "as fast as a2-highgpu-8g, and cheaper";
  EXPECT_FALSE(a2->pareto) << "as fast as p4d.24xlarge, and dearer";
  EXPECT_FALSE(a2->cheapest || a2->fastest || a2->recommended);
}

TEST(Advise, AFlaggedPriceIsShownAndNeverChosen) {
  const Advice advice = advise_on({eight_gpus()});
  const Offer* suspect = offer_of(advice.workloads[0], "a2-highgpu-8g", "europe-west4");
  EXPECT_NEAR(suspect->epoch_usd->value, 64.05835 * 10 / 3600, 1e-12);
  EXPECT_FALSE(suspect->cheapest || suspect->pareto || suspect->recommended);
  EXPECT_NE(suspect->warnings.at(0).find("suspect"), std::string::npos);
}

TEST(Advise, NoPriceIsNoDollars) {
  const Advice advice = advise_on({eight_gpus()});
  const Offer* oci = offer_of(advice.workloads[0], "BM.GPU4.8");
  EXPECT_FALSE(oci->price || oci->epoch_usd || oci->total_usd);
  EXPECT_EQ(oci->price_null_reason, "only a spot price is known");
  EXPECT_EQ(&advice.workloads[0].offers.back(), oci);
  EXPECT_FALSE(oci->cheapest || oci->pareto || oci->recommended);
}

TEST(Advise, SpotIsAnOfferOfItsOwnWhenAskedFor) {
  Goal goal = example_goal();
  goal.include_spot = true;
  const Advice advice = advise_on({eight_gpus()}, goal);
  EXPECT_EQ(advice.workloads[0].offers.size(), 5u);
  const Offer* spot = offer_of(advice.workloads[0], "BM.GPU4.8", "", "spot");
  ASSERT_TRUE(spot && spot->price);
  EXPECT_TRUE(spot->cheapest);
  EXPECT_EQ(spot->price_age_days, 91);
  EXPECT_NE(spot->warnings.at(0).find("taken away"), std::string::npos);
}

TEST(Advise, APriceIsOldAfterThirtyDays) {
  Goal goal = example_goal();
  EXPECT_EQ(offer_of(advise_on({eight_gpus()}, goal).workloads[0], "p4d.24xlarge")->price_age_warning, "");
  goal.now += std::chrono::days{1};
  EXPECT_EQ(offer_of(advise_on({eight_gpus()}, goal).workloads[0], "p4d.24xlarge")->price_age_warning,
            "31 days old, check it before you rent");
  goal.now -= std::chrono::days{32};
  EXPECT_EQ(offer_of(advise_on({eight_gpus()}, goal).workloads[0], "p4d.24xlarge")->price_age_warning,
            "its date lies in the future");
}

TEST(Advise, DeadlineAndBudgetAreJudgedByTheInterval) {
  Goal goal = example_goal();  // 5765 s; 5708 to 5823 s
  goal.deadline_seconds = 5830;
  goal.budget_usd = 35.2;  // p4d: 35.17, 34.82 to 35.52; a2: 47.07
  const Advice first = advise_on({eight_gpus()}, goal);
  const Offer* p4d = offer_of(first.workloads[0], "p4d.24xlarge");
  EXPECT_EQ(p4d->meets_deadline, Verdict::yes);
  EXPECT_EQ(p4d->meets_budget, Verdict::uncertain);
  EXPECT_FALSE(p4d->recommended);
  EXPECT_EQ(offer_of(first.workloads[0], "a2-highgpu-8g", "us-central1")->meets_budget, Verdict::no);
  EXPECT_EQ(offer_of(first.workloads[0], "BM.GPU4.8")->meets_budget, Verdict::no_price);
  goal.budget_usd = 36;
  EXPECT_TRUE(offer_of(advise_on({eight_gpus()}, goal).workloads[0], "p4d.24xlarge")->recommended);
  goal.deadline_seconds = 5000;
  const Advice late = advise_on({eight_gpus()}, goal);
  for (const Offer& offer : late.workloads[0].offers) {
    EXPECT_EQ(offer.meets_deadline, Verdict::no);
    EXPECT_FALSE(offer.recommended);
  }
}

TEST(Advise, AnInstanceTheCatalogueDoesNotKnowHasNoPriceUnlessTheUserGivesOne) {
  ReportInput input = example_report({example_case("resnet8", 64, 1000, 10)});
  input.report.environment.instance = record::Instance{"aws", "c99.large", "us-east-1", "metadata service", {}};
  const Advice unpriced = advise_on({input});
  EXPECT_FALSE(unpriced.workloads.at(0).offers.at(0).price);
  EXPECT_EQ(unpriced.workloads[0].offers[0].price_null_reason, "no price is known");
  Goal goal = example_goal();
  goal.prices = {{"c99.large", 0.5}};
  const Advice priced = advise_on({input}, goal);
  EXPECT_DOUBLE_EQ(priced.workloads.at(0).offers.at(0).price->usd_per_hour, 0.5);
  EXPECT_TRUE(priced.workloads[0].offers[0].cheapest);
}

TEST(Advise, OwnPricesReplaceTheCataloguesAndMayNameOwnMachines) {
  Goal goal = example_goal();
  goal.prices = {{"c7i.xlarge", 0.1}, {"my-box", 0.02}};
  const record::Case one = example_case("resnet8", 64, 1000, 10);
  ReportInput other = example_report({one}, "my-box");
  other.report.environment.host_name = "my-box";
  const Advice advice = advise_on({example_report({one}, "c7i.xlarge"), other}, goal);
  const Offer* c7i = offer_of(advice.workloads[0], "c7i.xlarge", "", "your price");
  ASSERT_TRUE(c7i);
  EXPECT_DOUBLE_EQ(c7i->price->usd_per_hour, 0.1);
  EXPECT_EQ(c7i->price->as_of, "2026-08-19");
  EXPECT_EQ(c7i->price->source, "--price");
  EXPECT_TRUE(offer_of(advice.workloads[0], "my-box", "", "your price")->cheapest);
}

TEST(Advise, UnknownNamesAreRefusedWithTheNearest) {
  Goal goal = example_goal();
  goal.prices = {{"c7i.xlrage", 0.1}};
  EXPECT_NE(advise_refusal({eight_gpus()}, goal).find("did you mean c7i.xlarge"), std::string::npos);
  const ReportInput input = example_report({example_case("resnet8", 64, 1000, 10)}, "c7i.xxlarge");
  EXPECT_NE(advise_refusal({input}, example_goal()).find("did you mean"), std::string::npos);
}

TEST(Advise, OfSeveralVariantsTheFastestIsOfferedAndAllAreShown) {
  const Advice advice =
      advise_on({example_report({example_case("resnet8", 16, 700, 10), example_case("resnet8", 64, 1000, 10),
                                 example_case("resnet8", 256, 900, 10)},
                                "c7i.xlarge")});
  const WorkloadAdvice& workload = advice.workloads.at(0);
  EXPECT_EQ(workload.figures.size(), 3u);
  ASSERT_EQ(workload.offers.size(), 1u);
  EXPECT_EQ(workload.figures[workload.offers[0].figure].variant.batch_per_replica, 64);
}

TEST(Advise, SeveralRunsOfTheSameGiveMedianAndCoveringInterval) {
  std::vector<ReportInput> reports;
  for (double value : {1000.0, 1040.0, 1010.0})
    reports.push_back(example_report({example_case("resnet8", 64, value, 15)}, "c7i.xlarge"));
  const Interval rate = advise_on(reports).workloads.at(0).offers.at(0).samples_per_second;
  EXPECT_DOUBLE_EQ(rate.value, 1010);
  EXPECT_DOUBLE_EQ(*rate.low, 985);
  EXPECT_DOUBLE_EQ(*rate.high, 1055);
  reports[1].report.cases[0].throughput.high.reset();
  const Advice unsure = advise_on(reports);
  EXPECT_FALSE(unsure.workloads[0].offers[0].samples_per_second.high);
  EXPECT_FALSE(unsure.workloads[0].offers[0].warnings.empty());
}

TEST(Advise, AnInstancesOwnFigureIsPreferredToOneOfTheSameGpus) {
  ReportInput own = eight_gpus();
  own.report.environment.instance = record::Instance{"aws", "p4d.24xlarge", "", "metadata service", {}};
  ReportInput other = eight_gpus();
  other.report.cases[0].throughput = {24000.0, 23900.0, 24100.0, ""};
  const Advice advice = advise_on({own, other});
  const Offer* p4d = offer_of(advice.workloads[0], "p4d.24xlarge");
  EXPECT_DOUBLE_EQ(p4d->samples_per_second.value, 20000);
  EXPECT_EQ(p4d->basis, Basis::detected);
  const Offer* a2 = offer_of(advice.workloads[0], "a2-highgpu-8g", "us-central1");
  EXPECT_DOUBLE_EQ(a2->samples_per_second.value, 22000);
  EXPECT_EQ(a2->basis, Basis::same_gpus);
}

TEST(Advise, TheOrderOfReportsChangesNothing) {
  const ReportInput a = eight_gpus(), b = example_report({example_gpu_case("Tesla T4", 1, 500, 5)});
  const Advice forward = advise_on({a, b}), backward = advise_on({b, a});
  ASSERT_EQ(forward.workloads[0].offers.size(), backward.workloads[0].offers.size());
  for (std::size_t i = 0; i < forward.workloads[0].offers.size(); ++i)
    EXPECT_EQ(forward.workloads[0].offers[i].instance.name, backward.workloads[0].offers[i].instance.name);
}

TEST(Advise, GoalsOutOfRangeAreRefusedByFlag) {
  const auto with = [](auto change) {
    Goal goal = example_goal();
    change(goal);
    return advise_refusal({eight_gpus()}, goal);
  };
  for (std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_NE(with([&](Goal& goal) { goal.dataset_samples = bad; }).find("--dataset-samples"), std::string::npos);
    EXPECT_NE(with([&](Goal& goal) { goal.epochs = bad; }).find("--epochs"), std::string::npos);
  }
  for (double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_NE(with([&](Goal& goal) { goal.deadline_seconds = bad; }).find("--deadline"), std::string::npos);
    EXPECT_NE(with([&](Goal& goal) { goal.budget_usd = bad; }).find("--budget"), std::string::npos);
    EXPECT_NE(with([&](Goal& goal) { goal.prices = {{"c7i.xlarge", bad}}; }).find("--price"), std::string::npos);
  }
}

TEST(Advise, OnePricePerName) {
  Goal goal = example_goal();
  goal.prices = {{"c7i.xlarge", 1}, {"C7I.xlarge", 2}};
  EXPECT_NE(advise_refusal({eight_gpus()}, goal).find("given twice (--price)"), std::string::npos);
  goal.prices = {{"c7i.xlarge", 1e300}};
  EXPECT_NE(advise_refusal({eight_gpus()}, goal).find("give at most"), std::string::npos);
}

}  // namespace
}  // namespace gpusizer::sizing
