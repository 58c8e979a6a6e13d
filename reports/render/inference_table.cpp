// SPDX-License-Identifier: Apache-2.0
// Rows of latencies and accuracies.
#include "reports/render/inference_table.hpp"

#include <fmt/format.h>

#include "reports/render/units.hpp"

namespace gpusizer::render {
namespace {

using record::InferenceRun;
using record::Maybe;

std::string time_or_nothing(const Maybe<double>& seconds) { return seconds ? time_text(*seconds) : "-"; }

std::string load_text(const record::Case& run) {
  const auto& asked = run.config.inference;
  if (!asked || !asked->offered_requests_per_second) return "back to back";
  return fmt::format("{}/s offered", significant(*asked->offered_requests_per_second));
}

// Beside the other forms' loss: where there is no accuracy, the loss tells what a form costs.
std::string quality_text(const InferenceRun& run) {
  if (run.accuracy) return percent_text(*run.accuracy);
  return run.loss ? fmt::format("loss {}", significant(*run.loss)) : "-";
}

std::string form_text(const InferenceRun& run) {
  std::string text = run.name;
  if (run.zero_share) text += fmt::format(" ({} zeros)", percent_text(*run.zero_share));
  if (run.provenance != record::Provenance::measured) text += fmt::format(" ({})", record::to_word(run.provenance));
  return text;
}

std::string rate_text(const record::Case& one, const InferenceRun& run) {
  return run.samples_per_second ? fmt::format("{} {}", significant(*run.samples_per_second), one.throughput.unit) : "-";
}

}  // namespace

Table inference_table(const record::Report& report) {
  Table table;
  table.columns = {{"model served", Align::left, 0, 10},
                   {"form", Align::left, 0, 8},
                   {"batch", Align::right, 4},
                   {"requests", Align::left, 3, 8},
                   {"served", Align::right},
                   {"p50", Align::right},
                   {"p90", Align::right, 2},
                   {"p99", Align::right},
                   {"accuracy", Align::right},
                   {"weights", Align::right, 5}};
  for (const record::Case& one : report.cases) {
    if (!one.inference) continue;
    for (const InferenceRun& run : one.inference->runs)
      table.rows.push_back({one.config.model, form_text(run), std::to_string(one.config.batch_per_replica),
                            fmt::format("{}, {}", run.requests, load_text(one)), rate_text(one, run),
                            time_or_nothing(run.p50_seconds), time_or_nothing(run.p90_seconds),
                            time_or_nothing(run.p99_seconds), quality_text(run),
                            bytes_text(static_cast<double>(run.weight_bytes))});
  }
  return table;
}

}  // namespace gpusizer::render
