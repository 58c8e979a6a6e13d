// SPDX-License-Identifier: Apache-2.0
// Hides tokens of a sequence for a model to guess: the masked-language-model task of BERT (Devlin et al., NAACL 2019).
#pragma once

#include <cstdint>
#include <span>

#include "workloads/data/sample_random.hpp"
#include "workloads/data/vocabulary.hpp"

namespace gpusizer {

inline constexpr double masked_share = 0.15;                               // of the tokens that are not special
inline constexpr double replaced_by_mask = 0.8, replaced_at_random = 0.1;  // of the masked; the rest stays as it is

// Slots that a sequence of `length` tokens needs for 15 %, rounded up: 20 of 128.
int64_t default_predictions(int64_t length);

struct MaskingRule {
  int64_t vocabulary = 0;
  SpecialTokens special;
};

// Chooses 15 % of the tokens that are neither [CLS] nor [SEP] (rounded, at least one, at most positions.size()), all
// with the same chance; writes their places, ascending, to `positions` and what stood there to `labels`, and replaces
// them in `ids`: 80 % by [MASK], 10 % by any token that is not special, 10 % not. Unused slots: position 0, label -1.
// `ids` are the real tokens without padding. Returns how many were chosen.
int64_t mask_tokens(std::span<int32_t> ids, const MaskingRule& rule, SampleRandom random, std::span<int32_t> positions,
                    std::span<int32_t> labels);

}  // namespace gpusizer
