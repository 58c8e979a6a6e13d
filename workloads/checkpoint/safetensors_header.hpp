// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file: its text from a list of tensors, and the list from a text that nobody vouches for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/checkpoint/content_hash.hpp"
#include "workloads/checkpoint/stored_tensor.hpp"

namespace gpusizer {

// A file is the header's length (8 bytes, little-endian), the header, and the data:
//   {"__metadata__": {string: string}, name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}
// Offsets count from the end of the header; together the tensors cover the data without a gap.
inline constexpr std::int64_t length_bytes = 8;
inline constexpr std::int64_t most_header_bytes = 100'000'000;

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in the order of their data
  FileWords words;                    // "__metadata__"
};

// Padded with spaces so that the data begins at a multiple of 8. Throws Error(usage) for a name that is given twice, is
// not UTF-8 or is "__metadata__", an impossible shape, or a header over most_header_bytes.
std::string header_text(const SafetensorsHeader& header);

// Throws Error(input) with `file` and what is wrong for anything that is not a header of a file with exactly
// `data_bytes` of data: not JSON, keys given twice, unknown types, sizes that are not shape x type, gaps, overlaps,
// offsets outside of the data, bytes that belong to no tensor.
SafetensorsHeader parse_header(std::string_view text, std::int64_t data_bytes, const std::string& file);

// The word under which a file of ours keeps a hash of everything else in it: words, tensors and data. The format has
// none.
inline constexpr std::string_view checksum_word = "gpusizer_checksum";
inline constexpr std::string_view checksum_kind = "xxh64:";

// A hash that has seen the header, without its checksum word; the data follows in its order.
ContentHash begin_checksum(const SafetensorsHeader& header);

}  // namespace gpusizer
