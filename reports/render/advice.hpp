// SPDX-License-Identifier: Apache-2.0
// The sizing answer for people and for machines: terminal, Markdown, JSON.
#pragma once

#include <string>

#include "reports/render/table.hpp"
#include "reports/sizing/advice.hpp"

namespace gpusizer::render {

// Tables of what was measured and what it costs where, notes, what was set aside; the last line is the dated cost of an
// epoch in words. Made for 100 columns. Text from reports and catalogues is made printable.
std::string advice_terminal(const sizing::Advice& advice, const Look& look);

// The same with one line per offer and all figures, as GitHub Markdown.
std::string advice_markdown(const sizing::Advice& advice);

// Schema "gpusizer.advice/1": every number in full; a missing one is null, with its reason beside it.
std::string advice_json(const sizing::Advice& advice);

}  // namespace gpusizer::render
