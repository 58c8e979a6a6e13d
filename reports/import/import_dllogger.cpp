// SPDX-License-Identifier: Apache-2.0
// DLLogger: the summary's throughput, or the median of what the steps say.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpusizer/error.hpp"
#include "reports/import/foreign.hpp"
#include "reports/import/log_lines.hpp"

namespace gpusizer::import {
namespace {

using nlohmann::json;

struct DlLog {
  std::vector<double> steps;
  std::optional<double> summary;
  std::string unit = "samples/s";
};

bool has_word(const std::string& name, std::string_view word) { return name.find(word) != std::string::npos; }

bool is_training_rate(const std::string& name) {
  if (has_word(name, "val") || has_word(name, "eval") || has_word(name, "infer")) return false;
  for (const char* word : {"throughput", "total_ips", "compute_ips", "images_per_sec", "sequences_per_sec", "items_per_sec",
                           "samples_per_sec", "tokens_per_sec", "train_speed", "ips"})
    if (has_word(name, word)) return true;
  return false;
}

std::string unit_of_name(const std::string& name) {
  if (has_word(name, "seq")) return "sequences/s";
  if (has_word(name, "tok")) return "tokens/s";
  return has_word(name, "image") || has_word(name, "ips") ? "images/s" : "samples/s";
}

void take_entry(const json& entry, DlLog& log) {
  if (entry.value("type", json("LOG")) != "LOG" || !entry.contains("data") || !entry["data"].is_object()) return;
  const json step = entry.value("step", json());
  const bool summary = step.is_null() || (step.is_array() && step.empty()) || (step.is_string() && step.get<std::string>().empty());
  for (const auto& [name, value] : entry["data"].items()) {
    const auto rate = is_training_rate(name) ? logged_number(value) : std::nullopt;
    if (!rate) continue;
    log.unit = unit_of_name(name);
    if (summary) log.summary = rate;
    else log.steps.push_back(*rate);
    return;
  }
}

}  // namespace

record::Report import_dllogger(std::string_view text, const ForeignNames& names) {
  DlLog log;
  for_each_logged(text, "DLLL", [&](const json& entry) { take_entry(entry, log); });
  if (log.steps.empty() && !log.summary)
    throw Error(Fault::input, "no line of the log has a training throughput", names.origin, "give the log of a training");
  std::sort(log.steps.begin(), log.steps.end());
  const double middle = log.steps.empty() ? *log.summary : log.steps[log.steps.size() / 2];
  const double rate = log.summary.value_or(middle);
  record::Case one = published_case(fmt::format("dllogger/{}", names.model.empty() ? "unknown" : names.model), names,
                                    names.source.empty() ? names.origin : names.source);
  set_rate(one, rate, log.unit);
  if (rate > 0 && middle > 0 && std::abs(std::log(rate / middle)) > std::log(50.0))
    hold_out(one, "far_from_neighbours", fmt::format("its summary says {:.4g}/s, its steps {:.4g}/s", rate, middle));
  record::Report report = published_report(names);
  report.cases.push_back(std::move(one));
  return report;
}

}  // namespace gpusizer::import
