// SPDX-License-Identifier: Apache-2.0
// The steps from reports to advice: check the goal, gather, combine, price, mark.
#include "reports/sizing/advise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gpusizer/error.hpp"
#include "reports/sizing/evidence.hpp"
#include "reports/sizing/figures.hpp"
#include "reports/sizing/offers.hpp"

namespace gpusizer::sizing {
namespace {

constexpr std::int64_t most_samples = 1'000'000'000'000'000, most_epochs = 1'000'000'000;
constexpr double most_usd_per_hour = 1e9;

void check_count(std::int64_t value, std::int64_t most, const char* what, const char* flag) {
  if (value < 1 || value > most)
    throw Error(Fault::usage, fmt::format("the number of {} is {}", what, value), flag,
                fmt::format("give a whole number from 1 to {}", most));
}

void check_amount(double value, const std::string& what, const char* flag) {
  if (!std::isfinite(value) || value <= 0)
    throw Error(Fault::usage, fmt::format("{} is {}", what, value), flag, "give a number above 0");
}

std::vector<std::string> not_counted(const Goal& goal) {
  std::vector<std::string> sentences = {
      "Only training steps are counted: not booting, copying the data there, warming up, evaluating or saving "
      "checkpoints.",
      "Not in the prices: disks, network traffic, taxes, discounts.",
      "An interval covers the measured runs; another machine of the same type may differ by a few per cent.",
      "A larger batch may need more epochs for the same accuracy; the number of epochs is taken as given."};
  if (!goal.include_spot) sentences.push_back("Spot prices are left out.");
  return sentences;
}

WorkloadAdvice advise_workload(const Workload& workload, std::span<const Evidence> evidence,
                               const cloud::Catalog& priced, const Goal& goal) {
  WorkloadAdvice advice{workload, combine(evidence), {}};
  advice.offers = make_offers(priced, advice.figures, evidence, goal);
  mark_and_sort(advice.offers);
  return advice;
}

}  // namespace

void check_goal(const Goal& goal) {
  check_count(goal.dataset_samples, most_samples, "samples", "--dataset-samples");
  check_count(goal.epochs, most_epochs, "epochs", "--epochs");
  if (goal.deadline_seconds) check_amount(*goal.deadline_seconds, "the deadline in seconds", "--deadline");
  if (goal.budget_usd) check_amount(*goal.budget_usd, "the budget in USD", "--budget");
  for (const PriceOverride& price : goal.prices) {
    check_amount(price.usd_per_hour, "the price of " + price.name, "--price");
    if (price.usd_per_hour > most_usd_per_hour)
      throw Error(Fault::usage, fmt::format("the price of {} is {} USD per hour", price.name, price.usd_per_hour), "--price",
                  fmt::format("give at most {}", most_usd_per_hour));
  }
}

Advice advise(std::span<const ReportInput> reports, const cloud::Catalog& catalog, const Goal& goal) {
  check_goal(goal);
  Gathered gathered = gather(reports, catalog, goal);
  const cloud::Catalog priced = priced_catalog(catalog, gathered.evidence, goal);
  std::map<Workload, std::vector<Evidence>> by_workload;
  for (const Evidence& one : gathered.evidence) by_workload[one.workload].push_back(one);
  Advice advice{goal, catalog.origin, {}, std::move(gathered.set_aside), not_counted(goal)};
  for (const auto& [workload, evidence] : by_workload)
    advice.workloads.push_back(advise_workload(workload, evidence, priced, goal));
  return advice;
}

bool has_offers(const Advice& advice) {
  return std::any_of(advice.workloads.begin(), advice.workloads.end(),
                     [](const WorkloadAdvice& workload) { return !workload.offers.empty(); });
}

}  // namespace gpusizer::sizing
