// SPDX-License-Identifier: Apache-2.0
// Texts and vocabularies that the tests make, and the fields of a text sample as vectors.
#pragma once

#include <string>
#include <vector>

#include "workloads/data/sample_source.hpp"
#include "workloads/data/tests/made_files.hpp"
#include "workloads/data/vocabulary.hpp"

namespace gpusizer::made {

inline Bytes bytes_of(const std::string& text) { return Bytes(text.begin(), text.end()); }

// The special tokens have the ids 0 to 4, `tokens` those from 5 on.
inline Vocabulary vocabulary(const std::vector<std::string>& tokens) {
  std::vector<std::string> all(std::begin(special_token_names), std::end(special_token_names));
  all.insert(all.end(), tokens.begin(), tokens.end());
  return Vocabulary(std::move(all), "made");
}

// Lines of `words` words each, of a language of 200 words: "w17 w3 ...". A blank line after each `document_lines` (0:
// none).
inline std::string text(int lines, int words, int document_lines, uint64_t seed = 1) {
  std::string made;
  for (int line = 0; line < lines; ++line) {
    for (int word = 0; word < words; ++word) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      const auto number = static_cast<int>((seed >> 40) % 200 * ((seed >> 20) % 200) / 200);
      made += {'w', static_cast<char>('a' + number / 20), static_cast<char>('a' + number % 20), ' '};
    }
    made += document_lines > 0 && line % document_lines == document_lines - 1 ? "\n\n" : "\n";
  }
  return made;
}

using Values = std::vector<std::vector<int32_t>>;  // of one sample, by field

inline Values read_text(const SampleSource& source, int64_t index, const SampleContext& context = {}) {
  Values values;
  std::vector<void*> places;
  for (const Field& field : source.fields(source.bucket_of(index))) {
    values.emplace_back(static_cast<size_t>(field.values()), -7);  // not a value that any field has
  }
  for (auto& field : values) places.push_back(field.data());
  source.read(index, context, places);
  return values;
}

}  // namespace gpusizer::made
