// SPDX-License-Identifier: Apache-2.0
// Cutting words out of text by hand: no pattern language that untrusted text could make slow.
#include "reports/import/notes_text.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace gpusizer::import {
namespace {

constexpr auto npos = std::string::npos;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::size_t skip_digits(const std::string& text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

void erase_all(std::string& text, std::string_view word) {
  for (auto at = text.find(word); at != npos; at = text.find(word, at)) text.erase(at, word.size());
}

// "key=value" up to the next semicolon or " sync".
void erase_value(std::string& text, std::string_view key) {
  for (auto at = text.find(key); at != npos; at = text.find(key, at)) {
    const auto end = std::min({text.find(';', at), text.find(" sync", at), text.size()});
    text.erase(at, end - at);
  }
}

void erase_between(std::string& text, std::string_view begin, std::string_view end, bool with_end) {
  for (auto at = text.find(begin); at != npos; at = text.find(begin, at)) {
    auto stop = text.find(end, at + begin.size());
    if (stop == npos && with_end) return;
    stop = stop == npos ? text.size() : stop + (with_end ? end.size() : 0);
    text.erase(at, stop - at);
  }
}

void erase_mean_of_runs(std::string& text) {
  for (auto at = text.find("mean of "); at != npos; at = text.find("mean of ", at + 1)) {
    const auto digits = skip_digits(text, at + 8);
    if (digits > at + 8 && text.compare(digits, 5, " runs") == 0) text.erase(at, digits + 5 - at);
  }
}

// Runs of spaces and semicolons become one space; none at either end.
std::string squeezed(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (!is_space(c) && c != ';') result += c;
    else if (!result.empty() && result.back() != ' ') result += ' ';
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace

std::string repository_of(std::string_view source) {
  return std::string(source.substr(0, std::min({source.find('@'), source.find(':'), source.find(" (")})));
}

std::string file_of(std::string_view source) {
  const auto colon = source.find(':');
  return std::string(colon == npos ? source : source.substr(colon + 1));
}

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string without_gpu_count(std::string_view file) {
  std::string text(file);
  for (auto at = text.find("_gpus_"); at != npos; at = text.find("_gpus_", at + 1))
    if (at >= 2 && is_digit(text[at - 1]) && text[at - 2] == '_') text.replace(at - 2, 8, "_");
  return text;
}

std::string configuration_of(std::string_view repository, std::string_view notes) {
  std::string text(notes);
  for (const char* key : {"step_time_s=", "sync_time_s=", "mfu=", "global_batch=", "published steps/s=", "ttt_min=", "runs=", "params="})
    erase_value(text, key);
  erase_value(text, "sync_time_s=");
  erase_mean_of_runs(text);
  erase_all(text, "batch from log");
  erase_all(text, "batch from config script");
  if (repository.find("lambdal") != npos) erase_between(text, "machine=", ";", false);
  return squeezed(text);
}

std::string without_batch(std::string_view configuration) {
  std::string text(configuration);
  erase_between(text, "section=", ";", false);
  for (auto at = text.find("batch"); at != npos; at = text.find("batch", at + 1)) {
    auto end = at + 5;
    if (text.compare(end, 5, " size") == 0) end += 5;
    if (end < text.size() && text[end] == '=') ++end;
    const auto digits = skip_digits(text, end);
    if (digits > end) text.erase(at, digits - at);
  }
  return text;
}

std::string without_precision(std::string_view configuration) {
  std::string text(configuration);
  erase_all(text, "AMP");
  erase_all(text, "pure half");
  erase_between(text, "framework default", "Ampere+", true);
  for (auto at = text.find("xla="); at != npos; at = text.find("xla=", at)) {
    auto end = at + 4;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    text.erase(at, end - at);
  }
  return squeezed(text);
}

std::string file_without_precision(std::string_view file) {
  std::string text(file), lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : {"fp16", "fp32", "amp", "half", "float", "tf32"})
    for (auto at = lower.find(word); at != npos; at = lower.find(word, at)) {
      const auto begin = at > 0 && lower[at - 1] == '_' ? at - 1 : at;
      const auto length = at + word.size() - begin;
      text.erase(begin, length), lower.erase(begin, length);
      at = begin;
    }
  return text;
}

}  // namespace gpusizer::import
