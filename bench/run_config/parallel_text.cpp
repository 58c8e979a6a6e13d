// SPDX-License-Identifier: Apache-2.0
// Reads and writes the small languages of parallel flags.
#include "bench/run_config/parallel_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

constexpr const char* kLayoutHint = "write dp=2,pp=2,tp=1";
constexpr const char* kWireHint = "write latency=1ms,bandwidth=1Gb/s";
constexpr const char* kFaultHint = "write throw@1:5 for rank 1 at step 5; kinds are throw, stall, exit and nan";

[[noreturn]] void refuse_text(const std::string& what, const char* flag, const std::string& hint) {
  throw Error(Fault::usage, what, flag, hint);
}

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator) parts.emplace_back();
    else parts.back() += c;
  }
  return parts;
}

std::int64_t whole_number(const std::string& text, const char* flag, const char* hint) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    refuse_text(fmt::format("'{}' is not a whole number", text), flag, hint);
  return value;
}

// "dp2pp2" -> "dp=2,pp=2"; a text with "=" is left as it is.
std::string spelled_out(const std::string& text) {
  if (text.find('=') != std::string::npos) return text;
  std::string spelled;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    const bool after_digit = i > 0 && std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0;
    if (i > 0 && digit != after_digit) spelled += digit ? '=' : ',';
    spelled += text[i];
  }
  return spelled;
}

// "1.5ms" with {"ms", 1e-3} among the units -> 0.0015.
double quantity(const std::string& text, const std::map<std::string_view, double>& units, const char* flag,
                const char* hint) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto unit = units.find(std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end)));
  if (error != std::errc{} || unit == units.end() || !(value >= 0) || !std::isfinite(value * unit->second))
    refuse_text(fmt::format("'{}' is not an amount with a known unit", text), flag, hint);
  return value * unit->second;
}

// Short, and without a slash, since it becomes a part of an id.
std::string wire_word(const WireOptions& wire) {
  std::string word = "wire";
  if (wire.latency_seconds > 0) word += fmt::format("-{:g}ms", wire.latency_seconds * 1e3);
  if (wire.bytes_per_second > 0) word += fmt::format("-{:g}MBps", wire.bytes_per_second / 1e6);
  return word;
}

}  // namespace

void read_layout(const std::string& text, ParallelOptions& options) {
  std::map<std::string, std::int64_t> factors;
  for (const std::string& part : split_at(spelled_out(text), ',')) {
    const auto pair = split_at(part, '=');
    if (pair.size() != 2 || (pair[0] != "dp" && pair[0] != "pp" && pair[0] != "tp"))
      refuse_text(fmt::format("'{}' is no part of a layout", part), "--parallel", kLayoutHint);
    if (factors.contains(pair[0]))
      refuse_text(fmt::format("'{}' is given twice", pair[0]), "--parallel", "keep one of them");
    factors[pair[0]] = whole_number(pair[1], "--parallel", kLayoutHint);
  }
  const auto factor = [&](const char* name) { return factors.contains(name) ? factors[name] : 1; };
  options.dp = factor("dp");
  options.pp = factor("pp");
  options.tp = factor("tp");
  options.dp_given = factors.contains("dp");
}

void read_stages(const std::string& text, ParallelOptions& options) {
  options.stages.clear();
  for (const std::string& part : split_at(text, ','))
    options.stages.push_back(whole_number(part, "--stages", "write 3,3,3,3"));
}

void read_wire(const std::string& text, ParallelOptions& options) {
  options.wire.reset();
  if (text == "none") return;
  static const std::map<std::string_view, double> times{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
  static const std::map<std::string_view, double> rates{{"Gb/s", 1e9 / 8}, {"Mb/s", 1e6 / 8}, {"kb/s", 1e3 / 8},
                                                        {"GB/s", 1e9},     {"MB/s", 1e6},     {"kB/s", 1e3}};
  WireOptions wire;
  std::set<std::string> given;
  for (const std::string& part : split_at(text, ',')) {
    const auto pair = split_at(part, '=');
    if (!given.insert(pair[0]).second)
      refuse_text(fmt::format("'{}' is given twice", pair[0]), "--wire", "keep one of them");
    if (pair.size() == 2 && pair[0] == "latency") wire.latency_seconds = quantity(pair[1], times, "--wire", kWireHint);
    else if (pair.size() == 2 && pair[0] == "bandwidth")
      wire.bytes_per_second = quantity(pair[1], rates, "--wire", kWireHint);
    else refuse_text(fmt::format("'{}' says nothing about a wire", part), "--wire", kWireHint);
  }
  if (wire.latency_seconds == 0 && wire.bytes_per_second == 0)
    refuse_text("a wire without latency and with endless bandwidth is none", "--wire", kWireHint);
  options.wire = wire;
}

void read_fault(const std::string& text, ParallelOptions& options) {
  options.fault.reset();
  if (text == "none") return;
  const auto at = split_at(text, '@');
  const auto place = at.size() == 2 ? split_at(at[1], ':') : std::vector<std::string>{};
  constexpr std::string_view kinds[] = {"throw", "stall", "exit", "nan"};
  if (place.size() != 2 || std::ranges::find(kinds, at[0]) == std::end(kinds))
    refuse_text(fmt::format("'{}' is no fault", text), "--inject-fault", kFaultHint);
  options.fault = FaultOptions{.kind = at[0], .rank = whole_number(place[0], "--inject-fault", kFaultHint),
                               .step = whole_number(place[1], "--inject-fault", kFaultHint)};
}

std::string layout_word(const ParallelOptions& options) {
  std::string word;
  if (options.dp > 1) word += fmt::format("dp{}", options.dp);
  if (options.pp > 1) word += fmt::format("pp{}", options.pp);
  if (options.tp > 1) word += fmt::format("tp{}", options.tp);
  return word;
}

std::string parallel_id_words(const ParallelOptions& options) {
  std::string words;
  const auto add = [&](bool given, const std::string& word) {
    if (given) words += "/" + word;
  };
  add(options.ranks() > 1, layout_word(options));
  add(!options.stages.empty(), fmt::format("{}", fmt::join(options.stages, "-")));
  add(options.schedule != "1f1b", options.schedule);
  add(options.mode == "local_sgd", fmt::format("local{}", options.period));
  add(options.mode == "async", fmt::format("async{}", options.staleness));
  add(options.sharded, "sharded");
  add(options.recompute, "recompute");
  add(options.norm_group > 0, fmt::format("norm{}", options.norm_group));
  add(options.sync_batch_norm, "syncnorm");
  add(options.bucket_mib != ParallelOptions{}.bucket_mib, fmt::format("buckets{}", options.bucket_mib));
  if (options.wire) add(true, wire_word(*options.wire));
  if (options.fault) add(true, fmt::format("{}@{}:{}", options.fault->kind, options.fault->rank, options.fault->step));
  return words;
}

}  // namespace gpusizer
