// SPDX-License-Identifier: Apache-2.0
// The vocabulary of a text model: pieces of words and their numbers, as in BERT's vocab.txt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpusizer {

// Looks up a string_view in a map of strings without making a string.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

struct SpecialTokens {
  int32_t padding = 0, unknown = 0, classify = 0, separate = 0, mask = 0;  // [PAD] [UNK] [CLS] [SEP] [MASK]

  bool has(int32_t id) const {
    return id == padding || id == unknown || id == classify || id == separate || id == mask;
  }
  bool operator==(const SpecialTokens&) const = default;
};

class Vocabulary {
 public:
  // `tokens` in the order of their ids. `where`: the file, named in errors. Throws Error(input), with the line (id +
  // 1), for a token that is empty, not UTF-8 or there twice, for a special token that is missing, for too many tokens.
  Vocabulary(std::vector<std::string> tokens, const std::string& where);

  int64_t size() const { return static_cast<int64_t>(tokens_.size()); }
  const std::string& token(int32_t id) const { return tokens_.at(static_cast<size_t>(id)); }
  std::optional<int32_t> find(std::string_view token) const;
  const SpecialTokens& special() const { return special_; }
  bool operator==(const Vocabulary& other) const { return tokens_ == other.tokens_; }

 private:
  std::vector<std::string> tokens_;
  StringMap<int32_t> ids_;
  SpecialTokens special_;
};

// BERT's vocab.txt: one token a line, the first line is id 0; lines may end in CR LF. Throws Error(input).
Vocabulary read_vocabulary(const std::filesystem::path& file);
// The same; throws Error(usage) when it has more than `most` tokens (0: any number), the outputs of a model.
Vocabulary read_vocabulary(const std::filesystem::path& file, int64_t most);
// Writes such a file. Throws Error(environment) when that fails.
void write_vocabulary(const Vocabulary& vocabulary, const std::filesystem::path& file);

inline constexpr int64_t most_tokens = 1'000'000;
inline constexpr std::string_view special_token_names[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

}  // namespace gpusizer
