// SPDX-License-Identifier: Apache-2.0
// A lowered program as stable text: the program, then the bytes of each tensor and workspace.
#pragma once

#include <string>

#include "workloads/lowering/lowered_program.hpp"

namespace gpusizer {

// What takes no bytes is not listed.
std::string dump(const LoweredProgram& lowered);

}  // namespace gpusizer
