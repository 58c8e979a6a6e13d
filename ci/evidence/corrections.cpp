// SPDX-License-Identifier: Apache-2.0
// Both corrections walk the p-values from the smallest: one accepts up to the last that fits, one until the first that does not.
#include "ci/evidence/corrections.hpp"

#include <algorithm>
#include <numeric>

namespace gpusizer::ci {
namespace {

std::vector<std::size_t> smallest_first(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

std::vector<bool> first_of(const std::vector<std::size_t>& order, std::size_t count) {
  std::vector<bool> stand(order.size(), false);
  for (std::size_t i = 0; i < count; ++i) stand[order[i]] = true;
  return stand;
}

}  // namespace

std::vector<bool> benjamini_hochberg(std::span<const double> p_values, double q) {
  const auto order = smallest_first(p_values);
  const double all = static_cast<double>(order.size());
  std::size_t stand = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (p_values[order[i]] <= q * static_cast<double>(i + 1) / all) stand = i + 1;
  return first_of(order, stand);
}

std::vector<bool> holm(std::span<const double> p_values, double alpha) {
  const auto order = smallest_first(p_values);
  std::size_t stand = 0;
  while (stand < order.size() && p_values[order[stand]] <= alpha / static_cast<double>(order.size() - stand)) ++stand;
  return first_of(order, stand);
}

}  // namespace gpusizer::ci
