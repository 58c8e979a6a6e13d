// SPDX-License-Identifier: Apache-2.0
// What the terminal can do: colours, width, a line that may be rewritten.
#pragma once

#include <cstddef>

#include "reports/render/table.hpp"

namespace gpusizer::cli {

bool stdout_is_terminal();
bool stderr_is_terminal();

// Colours only on a terminal, and not where NO_COLOR is set to anything (https://no-color.org) or TERM is "dumb".
// The width is the terminal's; unlimited for files and pipes.
render::Look look_of_stdout();
std::size_t width_of_stderr();

}  // namespace gpusizer::cli
