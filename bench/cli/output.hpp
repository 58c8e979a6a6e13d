// SPDX-License-Identifier: Apache-2.0
// Where a command's text goes: standard output, or a file that is replaced in one step.
#pragma once

#include <optional>
#include <string>

namespace gpusizer::cli {

// Throws Error(environment) when the file cannot be written.
void put_text(const std::string& text, const std::optional<std::string>& out);

}  // namespace gpusizer::cli
