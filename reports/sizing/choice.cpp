// SPDX-License-Identifier: Apache-2.0
// Which of the offers to look at first: cheapest, fastest, Pareto front, recommended.
#include <algorithm>
#include <tuple>

#include "reports/sizing/offers.hpp"

namespace gpusizer::sizing {
namespace {

// Money may be compared only where the price is known and nothing speaks against it.
bool price_counts(const Offer& offer) { return offer.total_usd && offer.price->flag.empty(); }

// 0: sound price, 1: flagged, 2: none. Then cost, time and name, so that the order never depends on the input's.
auto sort_key(const Offer& offer) {
  const int group = price_counts(offer) ? 0 : offer.total_usd ? 1 : 2;
  return std::tuple(group, offer.total_usd ? offer.total_usd->value : 0.0, offer.total_seconds.value,
                    offer.instance.cloud, offer.instance.name, offer.instance.region);
}

// At least as fast and as cheap, and better in one of both.
bool dominates(const Offer& a, const Offer& b) {
  const double a_usd = a.total_usd->value, b_usd = b.total_usd->value;
  const double a_seconds = a.total_seconds.value, b_seconds = b.total_seconds.value;
  return a_usd <= b_usd && a_seconds <= b_seconds && (a_usd < b_usd || a_seconds < b_seconds);
}

bool surely_within(Verdict verdict) { return verdict == Verdict::not_asked || verdict == Verdict::yes; }

}  // namespace

void mark_and_sort(std::vector<Offer>& offers) {
  std::stable_sort(offers.begin(), offers.end(),
                   [](const Offer& a, const Offer& b) { return sort_key(a) < sort_key(b); });
  for (Offer& offer : offers) {
    if (!price_counts(offer)) continue;
    offer.pareto = std::none_of(offers.begin(), offers.end(),
                                [&](const Offer& other) { return price_counts(other) && dominates(other, offer); });
  }
  if (!offers.empty()) {
    offers.front().cheapest = price_counts(offers.front());
    std::min_element(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
      return a.total_seconds.value < b.total_seconds.value;
    })->fastest = true;
  }
  const auto recommended = std::find_if(offers.begin(), offers.end(), [](const Offer& offer) {
    return price_counts(offer) && surely_within(offer.meets_deadline) && surely_within(offer.meets_budget);
  });
  if (recommended != offers.end()) recommended->recommended = true;
}

}  // namespace gpusizer::sizing
