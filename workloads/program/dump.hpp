// SPDX-License-Identifier: Apache-2.0
// A step program as stable text, one line an operation: for people, and for tests that compare whole programs.
#pragma once

#include <string>

#include "workloads/program/program.hpp"

namespace gpusizer {

// The same program gives the same text, on every machine and in every version that does not change the program.
std::string dump(const Program& program);

}  // namespace gpusizer
