// SPDX-License-Identifier: Apache-2.0
// Edit distance, and the choice of names worth offering.
#include "cloud/catalog/nearest_names.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace gpusizer::cloud {
namespace {

constexpr std::size_t longest_compared = 128;  // a longer name is no typing mistake

// Insertions, deletions and substitutions of one letter, and neighbours that were swapped (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Of two names equally far away the one of the same length is meant: letters are swapped more often than lost.
std::size_t difference(std::size_t a, std::size_t b) { return a > b ? a - b : b - a; }

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::vector<std::string> nearest_names(std::string_view text, std::span<const std::string> known, std::size_t count) {
  const std::string wanted = lower_case(text.substr(0, longest_compared));
  std::set<std::tuple<std::size_t, std::size_t, std::string>> ranked;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(wanted, lower_case(name));
    if (2 * distance <= std::max(wanted.size(), name.size())) ranked.emplace(distance, difference(wanted.size(), name.size()), name);
  }
  std::vector<std::string> nearest;
  for (const auto& [distance, length, name] : ranked)
    if (nearest.size() < count) nearest.push_back(name);
  return nearest;
}

}  // namespace gpusizer::cloud
