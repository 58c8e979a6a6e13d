// SPDX-License-Identifier: Apache-2.0
// A report as JSON text and back. Reports are untrusted input.
#pragma once

#include <string>
#include <string_view>

#include "reports/record/record.hpp"

namespace gpusizer::record {

// Indented, keys always in the same order, doubles in the shortest form that reads back as the same double.
// Throws Error(Fault::failed) when the report breaks a rule of check_report(), since nobody could read it back.
std::string to_json(const Report& report);

// Throws Error(Fault::input), naming `file_name` and the JSON pointer (or the byte) of the fault, for: a newer major,
// another schema, truncated or damaged text, NaN or infinity, a key given twice, wrong types, negative counts,
// text over 256 MiB, nesting over 64, and whatever check_report() refuses.
Report report_from_json(std::string_view text, const std::string& file_name);

}  // namespace gpusizer::record
