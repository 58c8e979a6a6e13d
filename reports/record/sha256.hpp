// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), to tell whether a file is still the one that a report was written with.
#pragma once

#include <string>
#include <string_view>

namespace gpusizer::record {

// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace gpusizer::record
