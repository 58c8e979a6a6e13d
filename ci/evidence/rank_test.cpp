// SPDX-License-Identifier: Apache-2.0
// Counts the arrangements of two sides with each value of U.
#include "ci/evidence/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpusizer::ci {
namespace {

// Pairs in which `one` is larger, ties half.
double larger_pairs(std::span<const double> one, std::span<const double> other) {
  double pairs = 0;
  for (const double a : one)
    for (const double b : other) pairs += a > b ? 1.0 : a == b ? 0.5 : 0.0;
  return pairs;
}

// Share of arrangements with U = 0, 1, ... n m. Taking the largest value of all away leaves a smaller case, with m
// pairs fewer if it was of the first side.
std::vector<double> shares_of_u(std::size_t n, std::size_t m) {
  std::vector<std::vector<double>> row(m + 1, std::vector<double>{1.0});  // none on the first side
  for (std::size_t i = 1; i <= n; ++i) {
    row[0] = {1.0};
    for (std::size_t j = 1; j <= m; ++j) {
      std::vector<double> shares(i * j + 1, 0.0);
      const double first = static_cast<double>(i) / static_cast<double>(i + j);
      for (std::size_t u = 0; u < row[j].size(); ++u) shares[u + j] += first * row[j][u];           // (i - 1, j)
      for (std::size_t u = 0; u < row[j - 1].size(); ++u) shares[u] += (1 - first) * row[j - 1][u];  // (i, j - 1)
      row[j] = std::move(shares);
    }
  }
  return row[m];
}

}  // namespace

std::optional<double> rank_test(std::span<const double> one, std::span<const double> other) {
  constexpr std::size_t fewest = 4, most = 100;
  if (std::min(one.size(), other.size()) < fewest || std::max(one.size(), other.size()) > most) return std::nullopt;
  const double pairs = larger_pairs(one, other);
  const double all = static_cast<double>(one.size() * other.size());
  const auto at_most = static_cast<std::size_t>(std::ceil(std::min(pairs, all - pairs)));
  const std::vector<double> shares = shares_of_u(one.size(), other.size());
  double tail = 0;
  for (std::size_t u = 0; u <= at_most && u < shares.size(); ++u) tail += shares[u];
  return std::min(1.0, 2 * tail);
}

}  // namespace gpusizer::ci
