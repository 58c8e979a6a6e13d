// SPDX-License-Identifier: Apache-2.0
// One offer per catalogue row and price: seconds, dollars and verdicts.
#include "reports/sizing/offers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cloud/catalog/iso_date.hpp"
#include "cloud/catalog/nearest_names.hpp"
#include "reports/sizing/cost.hpp"

namespace gpusizer::sizing {
namespace {

constexpr int old_price_days = 30;

bool is_of(const Hardware& hardware, const cloud::Instance& row) {
  return !hardware.instance.empty() && cloud::same_name(hardware.cloud, row.cloud) && cloud::same_name(hardware.instance, row.name);
}

bool has_same_gpus(const Hardware& hardware, const cloud::Instance& row) {
  return hardware.instance.empty() && !row.gpu.empty() && hardware.gpu == row.gpu &&
         hardware.gpu_count == row.gpu_count;
}

// A run on a part of the instance's GPUs says nothing about all of them.
bool uses_all_gpus(const Hardware& hardware, const cloud::Instance& row) {
  return hardware.gpu_count == row.gpu_count && (row.gpu.empty() || hardware.gpu == row.gpu);
}

// The index of the fastest figure that holds for the row, the type's own ones first; figures.size() when there is none.
std::size_t best_figure(std::span<const Figure> figures, const cloud::Instance& row) {
  std::size_t best = figures.size();
  bool best_is_own = false;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const bool own = is_of(figures[i].hardware, row) && uses_all_gpus(figures[i].hardware, row);
    if (!own && (best_is_own || !has_same_gpus(figures[i].hardware, row))) continue;
    if (best == figures.size() || (own && !best_is_own) ||
        figures[i].samples_per_second.value > figures[best].samples_per_second.value)
      best = i;
    best_is_own = best_is_own || own;
  }
  return best;
}

Basis basis_of(const Figure& figure, std::span<const Evidence> evidence) {
  if (figure.hardware.instance.empty()) return Basis::same_gpus;
  const bool stated = std::any_of(evidence.begin(), evidence.end(), [&](const Evidence& one) {
    return one.hardware == figure.hardware && one.variant == figure.variant && one.stated;
  });
  return stated ? Basis::stated : Basis::detected;
}

void add_price_age(Offer& offer, const Goal& goal) {
  const std::string& date = offer.price->as_of;
  offer.price_age_days = cloud::age_days(date, goal.now);
  if (!offer.price_age_days) return;
  const char* up_to = date.size() < 10 ? "up to " : "";  // only the month or the year is known
  if (*offer.price_age_days > old_price_days)
    offer.price_age_warning = fmt::format("{}{} days old, check it before you rent", up_to, *offer.price_age_days);
  if (*offer.price_age_days < 0) offer.price_age_warning = "its date lies in the future";
}

void add_price_warnings(Offer& offer, const Goal& goal) {
  if (!offer.price->flag.empty()) offer.warnings.push_back("price not to be trusted: " + offer.price->flag);
  if (offer.price->market == "spot")
    offer.warnings.push_back("a spot instance can be taken away; lost work and restarts are not counted");
  add_price_age(offer, goal);
}

void add_cost(Offer& offer, const cloud::Catalog& catalog) {
  const std::optional<cloud::Billing> billing = cloud::billing_of(catalog, offer.instance.cloud);
  const double minimum = billing ? billing->minimum_seconds : 0, step = billing ? billing->granularity_seconds : 1;
  offer.billing = billing ? fmt::format("{} bills at least {} s, then per {} s", offer.instance.cloud, minimum, step)
                          : fmt::format("{} is taken to bill per second", offer.instance.cloud);
  offer.epoch_usd = usd_for(offer.epoch_seconds, offer.price->usd_per_hour);
  offer.total_usd = usd_for(billed_seconds(offer.total_seconds, minimum, step), offer.price->usd_per_hour);
}

void add_verdicts(Offer& offer, const Goal& goal) {
  if (goal.deadline_seconds) offer.meets_deadline = within(offer.total_seconds, *goal.deadline_seconds);
  if (goal.budget_usd)
    offer.meets_budget = offer.total_usd ? within(*offer.total_usd, *goal.budget_usd) : Verdict::no_price;
}

Offer make_offer(const cloud::Instance& row, const std::optional<cloud::Price>& price, const Offer& common,
                 const cloud::Catalog& catalog, const Goal& goal) {
  Offer offer = common;
  offer.instance = row;
  offer.price = price;
  if (price) {
    add_price_warnings(offer, goal);
    add_cost(offer, catalog);
  } else {
    offer.price_null_reason =
        row.spot ? fmt::format("only a {} price is known", row.spot->market) : "no price is known";
  }
  add_verdicts(offer, goal);
  return offer;
}

// What all prices of a row share: the figure and the times.
Offer offer_without_price(const Figure& figure, std::size_t index, std::span<const Evidence> evidence,
                          const Goal& goal) {
  Offer offer;
  offer.figure = index;
  offer.basis = basis_of(figure, evidence);
  offer.samples_per_second = figure.samples_per_second;
  offer.epoch_seconds = seconds_for(static_cast<double>(goal.dataset_samples), figure.samples_per_second);
  offer.total_seconds = scaled(offer.epoch_seconds, static_cast<double>(goal.epochs));
  offer.warnings = figure.warnings;
  return offer;
}

}  // namespace

std::vector<Offer> make_offers(const cloud::Catalog& catalog, std::span<const Figure> figures,
                               std::span<const Evidence> evidence, const Goal& goal) {
  std::vector<Offer> offers;
  for (const cloud::Instance& row : catalog.instances) {
    const std::size_t index = best_figure(figures, row);
    if (index == figures.size()) continue;
    const Offer common = offer_without_price(figures[index], index, evidence, goal);
    const bool spot_counts = goal.include_spot && row.spot.has_value();
    if (row.on_demand || !spot_counts) offers.push_back(make_offer(row, row.on_demand, common, catalog, goal));
    if (spot_counts) offers.push_back(make_offer(row, row.spot, common, catalog, goal));
  }
  return offers;
}

}  // namespace gpusizer::sizing
