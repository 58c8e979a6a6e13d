// SPDX-License-Identifier: Apache-2.0
// Chooses by one pass over the tokens, so that the places come out sorted and nothing is allocated.
#include "workloads/data/masking.hpp"

#include <algorithm>
#include <cmath>

namespace gpusizer {

namespace {

int32_t replacement_of(int32_t id, const MaskingRule& rule, SampleRandom& random) {
  const double kind = random.uniform();
  if (kind < replaced_by_mask) return rule.special.mask;
  if (kind >= replaced_by_mask + replaced_at_random) return id;
  int32_t drawn = id;
  do drawn = static_cast<int32_t>(random.below(rule.vocabulary));
  while (rule.special.has(drawn));
  return drawn;
}

}  // namespace

int64_t default_predictions(int64_t length) {
  return (length * 15 + 99) / 100;  // in whole numbers: 0.15 is not exact
}

int64_t mask_tokens(std::span<int32_t> ids, const MaskingRule& rule, SampleRandom random, std::span<int32_t> positions,
                    std::span<int32_t> labels) {
  const auto is_word = [&](int32_t id) { return id != rule.special.classify && id != rule.special.separate; };
  int64_t words_left = std::count_if(ids.begin(), ids.end(), is_word);
  const auto wanted = std::max<int64_t>(1, std::llround(masked_share * static_cast<double>(words_left)));
  const int64_t chosen = std::min({wanted, words_left, static_cast<int64_t>(positions.size())});
  std::fill(positions.begin(), positions.end(), 0);
  std::fill(labels.begin(), labels.end(), -1);
  size_t slot = 0;
  for (size_t place = 0; place < ids.size() && static_cast<int64_t>(slot) < chosen; ++place) {
    if (!is_word(ids[place])) continue;
    // Each of the words left is one of the slots left with the same chance.
    if (random.below(words_left--) >= chosen - static_cast<int64_t>(slot)) continue;
    positions[slot] = static_cast<int32_t>(place);
    labels[slot++] = ids[place];
    ids[place] = replacement_of(ids[place], rule, random);
  }
  return chosen;
}

}  // namespace gpusizer
