// SPDX-License-Identifier: Apache-2.0
// nccl-tests: bus bandwidth and time by message size, out of place.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <vector>

#include "reports/import/foreign.hpp"

namespace gpusizer::import {
namespace {

struct Message {
  double bytes = 0, microseconds = 0, algorithm_gbs = 0, bus_gbs = 0;
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word && words.size() < 64;) words.push_back(word);
  return words;
}

std::optional<double> number(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  return *end == '\0' && !word.empty() && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// size count type [redop] [root] then time algbw busbw #wrong, out of place and in place.
std::optional<Message> message_of(const std::vector<std::string>& words) {
  if (words.size() < 11 || !number(words[0])) return std::nullopt;
  const auto* last = &words[words.size() - 8];
  const auto time = number(last[0]), algorithm = number(last[1]), bus = number(last[2]);
  if (!time || !algorithm || !bus) return std::nullopt;
  return Message{*number(words[0]), *time, *algorithm, *bus};
}

// Time and bandwidth of one row say the same; more than the time allows cannot have been sent.
std::string why_impossible(const Message& message) {
  if (message.bytes < 65536) return "";  // printed with too few digits
  const double counted = message.bytes / message.microseconds / 1e3;
  if (message.microseconds > 0 && std::abs(counted / message.algorithm_gbs - 1) < 0.1) return "";
  return fmt::format("{:.0f} bytes in {:.4g} us are {:.4g} GB/s, it claims {:.4g}", message.bytes, message.microseconds, counted,
                     message.algorithm_gbs);
}

}  // namespace

record::Report import_nccl_tests(std::string_view text, const ForeignNames& names) {
  std::istringstream lines{std::string(text)};
  std::vector<Message> messages;
  ForeignNames own = names;
  std::int64_t ranks = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto words = words_of(line);
    if (words.size() >= 3 && words[0] == "#" && words[1] == "Rank") {
      ++ranks;
      if (const auto bracket = line.find(']'); own.gpu.empty() && bracket != std::string::npos)
        own.gpu = line.substr(std::min(line.find_first_not_of(' ', bracket + 1), line.size()));
    }
    if (const auto message = message_of(words)) messages.push_back(*message);
  }
  if (own.devices == 0) own.devices = ranks;
  if (own.model.empty()) own.model = "nccl-tests";
  record::Report report = published_report(names);
  if (messages.empty()) return report;
  record::Case one = published_case("nccl-tests", own, names.source.empty() ? names.origin : names.source);
  one.throughput.null_reason = "it measures communication, not training";
  std::vector<std::string> seen;
  for (const Message& message : messages) {
    const std::string size = fmt::format("{:.0f}", message.bytes);
    if (std::find(seen.begin(), seen.end(), size) != seen.end()) continue;
    seen.push_back(size);
    if (const std::string why = why_impossible(message); !why.empty() && one.status == record::CaseStatus::ok) hold_out(one, "impossible_steps", why);
    one.metrics.push_back(published_metric("bus_bytes_per_second/" + size, 1e9 * message.bus_gbs, "B/s", record::Better::higher));
    one.metrics.push_back(published_metric("seconds/" + size, 1e-6 * message.microseconds, "s", record::Better::lower));
  }
  report.cases.push_back(std::move(one));
  return report;
}

}  // namespace gpusizer::import
