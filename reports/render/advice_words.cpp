// SPDX-License-Identifier: Apache-2.0
// How numbers, prices and verdicts of the sizing answer are said.
#include "reports/render/advice_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/render/units.hpp"
#include "reports/sizing/evidence.hpp"

namespace gpusizer::render {
namespace {

using sizing::Offer;
using sizing::Verdict;

constexpr double most_grouped = 1e15;  // from here on numbers are shown with an exponent

// "1281167.5" -> "1,281,167.5".
std::string grouped(std::string digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t at = point; at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string cloud_words(const std::string& cloud) {
  if (cloud == "aws") return "AWS";
  if (cloud == "azure") return "Azure";
  if (cloud == "gcp") return "GCP";
  if (cloud == "oci") return "OCI";
  return cloud;
}

// The plain number of the price list, not rounded.
std::string hourly_words(double usd_per_hour) { return fmt::format("${}/h", usd_per_hour); }

std::string date_words(const cloud::Price& price) {
  return price.as_of_note.empty() ? price.as_of : fmt::format("{} {}", price.as_of, price.as_of_note);
}

void add_limit(std::string& words, Verdict verdict, const char* broken) {
  const char* comma = words.empty() ? "" : ", ";
  if (verdict == Verdict::no) words += fmt::format("{}{}", comma, broken);
  if (verdict == Verdict::uncertain) words += fmt::format("{}maybe {}", comma, broken);
  if (verdict == Verdict::no_price) words += fmt::format("{}cost unknown", comma);
}

const Offer* marked(const sizing::WorkloadAdvice& workload, bool Offer::*mark) {
  const auto found =
      std::find_if(workload.offers.begin(), workload.offers.end(), [&](const Offer& o) { return o.*mark; });
  return found == workload.offers.end() ? nullptr : &*found;
}

std::string name_and_region(const cloud::Instance& instance) {
  return instance.region.empty() ? instance.name : instance.name + " " + instance.region;
}

// "(on-demand $0.1785/h, AWS, as of 2026-07-20)".
std::string priced_words(const Offer& offer) {
  return fmt::format("({} {}, {}, as of {})", offer.price->market, hourly_words(offer.price->usd_per_hour),
                     cloud_words(offer.instance.cloud), date_words(*offer.price));
}

std::string recommended_sentence(const sizing::WorkloadAdvice& workload, const sizing::Goal& goal) {
  const std::string limits = goal.deadline_seconds && goal.budget_usd ? "deadline and budget"
                             : goal.deadline_seconds                  ? "the deadline"
                                                                      : "the budget";
  const Offer* offer = marked(workload, &Offer::recommended);
  if (offer == nullptr) return fmt::format("recommended: nothing measured here surely keeps {}", limits);
  return fmt::format("recommended: {}, keeps {}: {} in {}", name_and_region(offer->instance), limits,
                     usd_words(offer->total_usd->value), duration_words(offer->total_seconds.value));
}

std::string fastest_sentence(const Offer& offer) {
  const std::string name = name_and_region(offer.instance), time = duration_words(offer.epoch_seconds.value);
  if (!offer.epoch_usd) return fmt::format("fastest: {}, {} per epoch ({})", name, time, offer.price_null_reason);
  return fmt::format("fastest: {}, {} and {} per epoch {}", name, time, usd_words(offer.epoch_usd->value),
                     priced_words(offer));
}

std::string cheapest_sentence(const Offer* offer) {
  if (offer == nullptr) return "cheapest: not known, no instance measured here has a price that can be trusted";
  return fmt::format("cheapest: {}, {} per epoch {}", name_and_region(offer->instance),
                     usd_words(offer->epoch_usd->value), priced_words(*offer));
}

}  // namespace

std::string number_words(double value) {
  if (std::abs(value) >= 999.95 && std::abs(value) < most_grouped) return grouped(fmt::format("{:.0f}", value));
  return significant(value, 4);
}

std::string usd_words(double usd) {
  if (usd >= 0.995 && usd < most_grouped) return fmt::format("${}", grouped(fmt::format("{:.2f}", usd)));
  return fmt::format("${}", significant(usd, 3));
}

std::string duration_words(double seconds) {
  if (seconds < 120) return fmt::format("{} s", significant(seconds, 3));
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.1f} h", seconds / 3600);
  if (!(seconds < most_grouped)) return fmt::format("{} d", significant(seconds / 86400, 3));
  return fmt::format("{} d", grouped(fmt::format("{:.1f}", seconds / 86400)));
}

std::string interval_words(const sizing::Interval& interval) {
  if (!interval.low || !interval.high) return number_words(interval.value) + " (interval not known)";
  return fmt::format("{} ({} to {})", number_words(interval.value), number_words(*interval.low),
                     number_words(*interval.high));
}

std::string price_words(const Offer& offer) {
  if (!offer.price) return offer.price_null_reason;
  const cloud::Price& price = *offer.price;
  const std::string hourly =
      fmt::format("{}{}", hourly_words(price.usd_per_hour), price.flag.empty() ? "" : " not trusted");
  if (price.market == "on-demand") return fmt::format("{} {}", hourly, price.as_of);
  return fmt::format("{} {} {}", hourly, price.market, price.as_of);
}

std::string place_words(const cloud::Instance& instance) {
  return instance.region.empty() ? instance.cloud : instance.cloud + " " + instance.region;
}

std::string limits_words(const Offer& offer) {
  std::string words;
  add_limit(words, offer.meets_deadline, "too slow");
  add_limit(words, offer.meets_budget, "too dear");
  const bool asked = offer.meets_deadline != Verdict::not_asked || offer.meets_budget != Verdict::not_asked;
  return words.empty() && asked ? "kept" : words;
}

std::string goal_words(const sizing::Goal& goal) {
  std::string words = fmt::format("{} samples per epoch, {} epoch{}", grouped(std::to_string(goal.dataset_samples)),
                                  grouped(std::to_string(goal.epochs)), goal.epochs == 1 ? "" : "s");
  if (goal.deadline_seconds) words += ", in at most " + duration_words(*goal.deadline_seconds);
  if (goal.budget_usd) words += ", for at most " + usd_words(*goal.budget_usd);
  return words;
}

std::vector<std::string> summary_sentences(const sizing::WorkloadAdvice& workload, const sizing::Goal& goal) {
  std::vector<std::string> sentences;
  const Offer *cheapest = marked(workload, &Offer::cheapest), *fastest = marked(workload, &Offer::fastest);
  if (goal.deadline_seconds || goal.budget_usd) sentences.push_back(recommended_sentence(workload, goal));
  if (fastest != nullptr && fastest != cheapest) sentences.push_back(fastest_sentence(*fastest));
  sentences.push_back(cheapest_sentence(cheapest));
  return sentences;
}

std::vector<std::string> notes_of(const Offer& offer) {
  std::vector<std::string> notes;
  if (offer.basis == sizing::Basis::stated) notes.push_back("measured on this instance type as you say (--as)");
  if (offer.basis == sizing::Basis::same_gpus)
    notes.push_back("measured on another machine with the same GPUs; CPU, disk and network may differ");
  if (offer.price)
    notes.push_back(fmt::format("{} price of {}{}{}: {}", offer.price->market, date_words(*offer.price),
                                offer.price_age_warning.empty() ? "" : ", ", offer.price_age_warning,
                                offer.price->source));
  notes.insert(notes.end(), offer.warnings.begin(), offer.warnings.end());
  return notes;
}

std::vector<std::string> notes_of(const sizing::WorkloadAdvice& workload) {
  std::vector<std::string> all;
  for (const Offer& offer : workload.offers)
    for (const std::string& note : notes_of(offer))
      if (std::find(all.begin(), all.end(), note) == all.end()) all.push_back(note);
  return all;
}

std::string note_numbers(const Offer& offer, const std::vector<std::string>& all) {
  const std::vector<std::string> own = notes_of(offer);
  std::string numbers;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::find(own.begin(), own.end(), all[i]) != own.end())
      numbers += fmt::format("{}{}", numbers.empty() ? "" : ",", i + 1);
  return numbers.empty() ? "" : fmt::format("[{}]", numbers);
}

}  // namespace gpusizer::render
