// SPDX-License-Identifier: Apache-2.0
// Numbers for people. Records hold seconds, bytes and shares; only here they become ms, GiB and percent.
#pragma once

#include <string>

namespace gpusizer::render {

// With `digits` significant digits, without an exponent where a person would not write one: "1250", "14.23", "0.03125".
std::string significant(double value, int digits = 4);

std::string time_text(double seconds);   // "412 µs", "31.1 ms", "1.31 s", "2.4 min", "3.1 h"
std::string bytes_text(double bytes);    // "512 B", "1.5 KiB", "173 MiB", "7.68 GiB"
std::string percent_text(double share);  // "91.2 %", "0.35 %"

}  // namespace gpusizer::render
