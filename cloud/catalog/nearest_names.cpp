// SPDX-License-Identifier: Apache-2.0
// Edit distance, and the choice of names worth offering.
#include "cloud/catalog/nearest_names.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gpusizer::cloud {
namespace {

constexpr std::size_t longest_compared = 128;  // a longer name is no typing mistake

// Levenshtein distance: insertions, deletions and substitutions of one letter.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::vector<std::string> nearest_names(std::string_view text, std::span<const std::string> known, std::size_t count) {
  const std::string wanted = lower_case(text.substr(0, longest_compared));
  std::set<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(wanted, lower_case(name));
    if (2 * distance <= std::max(wanted.size(), name.size())) ranked.emplace(distance, name);
  }
  std::vector<std::string> nearest;
  for (const auto& [distance, name] : ranked)
    if (nearest.size() < count) nearest.push_back(name);
  return nearest;
}

}  // namespace gpusizer::cloud
