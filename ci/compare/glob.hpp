// SPDX-License-Identifier: Apache-2.0
// Patterns for ids of cases and metrics.
#pragma once

#include <string_view>

namespace gpusizer::ci {

// `*` stands for any text, slashes included, `?` for one byte; everything else for itself.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace gpusizer::ci
