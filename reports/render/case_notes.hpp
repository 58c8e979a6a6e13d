// SPDX-License-Identifier: Apache-2.0
// What has to be said about one case beside its row in a table.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"
#include "reports/render/table.hpp"

namespace gpusizer::render {

struct Note {
  std::string text;
  Tone tone = Tone::plain;
};

// Its reason, why it has no figure, its validity flags, what it reached, its tokens, what its ranks waited for.
std::vector<Note> notes_of(const record::Case& run);

Tone tone_of(record::CaseStatus status);

}  // namespace gpusizer::render
