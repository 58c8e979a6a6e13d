// SPDX-License-Identifier: Apache-2.0
// From figures to offers: which rows of the catalogue they hold for, and what those take and cost.
#pragma once

#include <span>
#include <vector>

#include "reports/sizing/evidence.hpp"

namespace gpusizer::sizing {

// The catalogue with the user's prices in place of its own, and with rows for the instance types of `evidence` that it
// does not know (without a price unless the user gave one). Throws Error(usage) for a price that fits no row.
cloud::Catalog priced_catalog(const cloud::Catalog& catalog, std::span<const Evidence> evidence, const Goal& goal);

// Every row that has a figure, once per price that counts, with its fastest variant; no marks yet.
// A figure of the instance type itself is preferred to one of other machines with the same GPUs.
std::vector<Offer> make_offers(const cloud::Catalog& catalog, std::span<const Figure> figures,
                               std::span<const Evidence> evidence, const Goal& goal);

// Sets cheapest, fastest, pareto and recommended, and sorts: by total cost, then flagged prices, then no price.
// A flagged price never makes an offer cheapest, Pareto or recommended.
void mark_and_sort(std::vector<Offer>& offers);

}  // namespace gpusizer::sizing
