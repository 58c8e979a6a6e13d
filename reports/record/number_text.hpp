// SPDX-License-Identifier: Apache-2.0
// A double as the shortest text that reads back as the same double.
#pragma once

#include <string>

namespace gpusizer::record {

std::string shortest_text(double value);  // "0.1", "5", "1e-09"; for files, not for people

}  // namespace gpusizer::record
