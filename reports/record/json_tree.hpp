// SPDX-License-Identifier: Apache-2.0
// JSON text as a tree and back, with limits for text from strangers. Used only inside this folder.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace gpusizer::record {

// The member of an object that says why its missing numbers are missing.
inline constexpr const char* reasons_key = "null_reasons";

using Tree = nlohmann::ordered_json;

inline constexpr std::size_t largest_text_bytes = 256u << 20u;
inline constexpr std::size_t deepest_nesting = 64;
inline constexpr std::size_t most_values = 20'000'000;  // bounds the memory that a small text can ask for

// Throws Error(Fault::input) naming the file, the byte and the JSON pointer: text that is not JSON, is cut off or holds a NUL byte, NaN,
// numbers out of range, a key given twice in one object, or any of the limits above exceeded.
Tree parse_tree(std::string_view text, const std::string& file_name);

// Objects one key per line, lists of plain values in filled lines, doubles in their shortest form.
std::string print_tree(const Tree& tree);

// `name` as a step of a JSON pointer (RFC 6901: ~ and / are escaped).
std::string pointer_step(std::string_view name);

}  // namespace gpusizer::record
