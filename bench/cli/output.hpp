// SPDX-License-Identifier: Apache-2.0
// Where a command's text goes: standard output, or a file that is replaced in one step.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gpusizer::cli {

// Throws Error(usage) when `out` is one of the files that the command reads, by whatever name.
void refuse_input_as_output(const std::optional<std::string>& out, const std::vector<std::string>& inputs);

// Throws Error(environment) when the file cannot be written.
void put_text(const std::string& text, const std::optional<std::string>& out);

}  // namespace gpusizer::cli
