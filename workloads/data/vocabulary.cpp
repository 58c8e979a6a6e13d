// SPDX-License-Identifier: Apache-2.0
// Reads, checks and writes vocabularies.
#include "workloads/data/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "gpusizer/error.hpp"
#include "workloads/data/data_file.hpp"
#include "workloads/data/utf8.hpp"

namespace gpusizer {

namespace {

constexpr int64_t most_vocabulary_bytes = int64_t{64} << 20;

std::string at_line(const std::string& where, size_t index) { return fmt::format("{}, line {}", where, index + 1); }

void check_token(const std::string& token, const std::string& where, size_t index) {
  if (token.empty()) {
    throw Error(Fault::input, "the vocabulary has an empty line", at_line(where, index),
                "every line must hold one token, since its number is the token's id");
  }
  if (find_invalid_utf8(token) != std::string_view::npos) {
    throw Error(Fault::input, "the token is not UTF-8 text", at_line(where, index));
  }
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> tokens, const std::string& where) : tokens_(std::move(tokens)) {
  if (tokens_.empty()) throw Error(Fault::input, "the vocabulary is empty", where, "expected one token a line");
  if (size() > most_tokens) {
    throw Error(Fault::input, fmt::format("the vocabulary has {} tokens, more than {}", size(), most_tokens), where);
  }
  ids_.reserve(tokens_.size());
  for (size_t i = 0; i < tokens_.size(); ++i) {
    check_token(tokens_[i], where, i);
    const auto [entry, is_new] = ids_.emplace(tokens_[i], static_cast<int32_t>(i));
    if (!is_new) {
      throw Error(Fault::input,
                  fmt::format("the token `{}` is there twice, first in line {}", tokens_[i], entry->second + 1),
                  at_line(where, i));
    }
  }
  const auto special = [&](std::string_view name) {
    if (const std::optional<int32_t> id = find(name)) return *id;
    throw Error(Fault::input, fmt::format("the vocabulary has no token {}", name), where,
                "a BERT vocabulary has [PAD], [UNK], [CLS], [SEP] and [MASK], each on its line");
  };
  special_ = {special("[PAD]"), special("[UNK]"), special("[CLS]"), special("[SEP]"), special("[MASK]")};
}

std::optional<int32_t> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

Vocabulary read_vocabulary(const std::filesystem::path& file) {
  const std::vector<uint8_t> bytes = read_whole_file(file, most_vocabulary_bytes);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
  std::vector<std::string> tokens;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    tokens.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return Vocabulary(std::move(tokens), file.string());
}

Vocabulary read_vocabulary(const std::filesystem::path& file, int64_t most) {
  Vocabulary vocabulary = read_vocabulary(file);
  if (most == 0 || vocabulary.size() <= most) return vocabulary;
  throw Error(Fault::usage, fmt::format("the vocabulary has {} tokens, the model {}", vocabulary.size(), most),
              file.string(), "make the model's vocabulary as large, or leave its size to the file");
}

void write_vocabulary(const Vocabulary& vocabulary, const std::filesystem::path& file) {
  std::ofstream out(file, std::ios::binary);
  for (int32_t id = 0; id < vocabulary.size(); ++id) out << vocabulary.token(id) << '\n';
  out.close();
  if (!out) throw Error(Fault::environment, "the vocabulary cannot be written", file.string());
}

}  // namespace gpusizer
