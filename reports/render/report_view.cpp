// SPDX-License-Identifier: Apache-2.0
// A report in words: header lines, one row per case, notes.
#include "reports/render/report_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/render/inference_table.hpp"
#include "reports/render/scaling_table.hpp"
#include "reports/render/units.hpp"

namespace gpusizer::render {
namespace {

using record::Case;
using record::Maybe;
using record::Report;

constexpr const char* nothing = "-";
constexpr double wide_interval = 0.5;  // half widths from here on are shown as low and high

template <class T, class Text>
std::string or_nothing(const Maybe<T>& value, Text text) {
  return value ? text(static_cast<double>(*value)) : nothing;
}

Cell model_cell(const Case& run, const Report&) { return run.config.model; }
Cell data_cell(const Case& run, const Report&) { return run.config.data; }
Cell precision_cell(const Case& run, const Report&) { return run.config.precision; }

Cell batch_cell(const Case& run, const Report&) {
  const auto& config = run.config;
  return config.replicas == 1 ? std::to_string(config.batch_per_replica)
                              : fmt::format("{} x {}", config.replicas, config.batch_per_replica);
}

Cell device_cell(const Case& run, const Report&) {
  const auto& config = run.config;
  const std::string name = config.device.empty() ? config.device_kind : config.device;
  // Ranks on CPUs share the processor that is named.
  return config.devices == 1 || config.device_kind == "cpu" ? name : fmt::format("{} x {}", config.devices, name);
}

// The unit that all cases share, for the heading; empty when they differ and each cell must name its own.
std::string shared_unit(const Report& report) {
  std::string unit;
  for (const Case& run : report.cases) {
    if (!unit.empty() && unit_text(run.throughput) != unit) return "";
    unit = unit_text(run.throughput);
  }
  return unit;
}

Cell throughput_cell(const Case& run, const Report& report) {
  return throughput_text(run.throughput, shared_unit(report).empty() ? unit_text(run.throughput) : "");
}

Cell source_cell(const Case& run, const Report&) {
  return run.throughput.value ? record::to_word(run.throughput.provenance) : nothing;
}
// Whether figures of more than one source stand beside each other; then each row names its own.
bool has_mixed_sources(const Report& report) {
  return std::any_of(report.cases.begin(), report.cases.end(), [&](const Case& run) {
    return run.throughput.value && run.throughput.provenance != report.provenance;
  });
}

Cell p50_cell(const Case& run, const Report&) { return or_nothing(run.measurement.p50_step_seconds, time_text); }
Cell p95_cell(const Case& run, const Report&) { return or_nothing(run.measurement.p95_step_seconds, time_text); }
Cell accuracy_cell(const Case& run, const Report&) { return or_nothing(run.training.accuracy, percent_text); }
Cell loss_cell(const Case& run, const Report&) {
  return or_nothing(run.training.final_loss, [](double loss) { return significant(loss, 3); });
}

// What the process took, or else what was planned, and then it says so.
Cell memory_cell(const Case& run, const Report&) {
  if (run.memory.peak_rss_bytes) return bytes_text(static_cast<double>(*run.memory.peak_rss_bytes));
  return or_nothing(run.memory.planned_peak_bytes, [](double bytes) { return bytes_text(bytes) + " planned"; });
}

Cell status_cell(const Case& run, const Report&) { return {record::to_word(run.status), tone_of(run.status)}; }

struct CaseColumn {
  Column column;
  Cell (*cell)(const Case&, const Report&);
};

// The columns of the table of cases: one line each, in order.
const std::vector<CaseColumn>& case_columns() {
  static const std::vector<CaseColumn> columns = {
      {{"model"}, model_cell},
      {{"data", Align::left, 1, 9}, data_cell},
      {{"batch", Align::right}, batch_cell},
      {{"precision", Align::left, 2}, precision_cell},
      {{"device", Align::left, 6, 12}, device_cell},
      {{"throughput", Align::right}, throughput_cell},
      {{"source"}, source_cell},
      {{"step p50", Align::right, 4}, p50_cell},
      {{"step p95", Align::right, 7}, p95_cell},
      {{"accuracy", Align::right, 3}, accuracy_cell},
      {{"loss", Align::right, 8}, loss_cell},
      {{"memory", Align::right, 5}, memory_cell},
      {{"status"}, status_cell},
  };
  return columns;
}

Table table_of(const Report& report) {
  std::vector<CaseColumn> columns = case_columns();
  if (!has_mixed_sources(report))
    std::erase_if(columns, [](const CaseColumn& column) { return column.cell == source_cell; });
  Table table;
  for (const auto& column : columns) {
    table.columns.push_back(column.column);
    if (column.cell == throughput_cell && !shared_unit(report).empty())
      table.columns.back().heading = shared_unit(report);
  }
  for (const Case& run : report.cases) {
    auto& row = table.rows.emplace_back();
    for (const auto& column : columns) row.push_back(column.cell(run, report));
  }
  return table;
}

std::string machine_text(const record::Environment& environment) {
  std::string text = fmt::format("{}: {}", environment.host_name, environment.cpu_model);
  if (environment.cpu_threads) text += fmt::format(", {} threads", *environment.cpu_threads);
  if (environment.memory_bytes) text += fmt::format(", {}", bytes_text(static_cast<double>(*environment.memory_bytes)));
  if (environment.instance)
    text += fmt::format(", {} {} {}", environment.instance->cloud, environment.instance->type, environment.instance->region);
  text += fmt::format(", {}, {}", environment.os, environment.kernel);
  for (const auto& [name, version] : environment.libraries) text += fmt::format(", {} {}", name, version);
  return text;
}

// The processes of a launcher are not in the command that each of them was given.
std::string repeat_text(const Report& report) {
  for (const Case& run : report.cases) {
    if (!run.config.parallel || report.command_line.empty()) continue;
    const record::Parallel& layout = *run.config.parallel;
    if (layout.transport.ends_with("mpi")) return fmt::format("mpirun -np {} {}", layout.ranks, report.command_line);
    if (layout.transport.ends_with("tcp"))
      return fmt::format("WORLD_SIZE={} RANK=0 (to {}) MASTER_ADDR=... MASTER_PORT=... {}", layout.ranks, layout.ranks - 1,
                         report.command_line);
  }
  return report.command_line;
}

std::string tool_text(const record::Tool& tool) {
  const std::string commit = tool.git_commit.empty() ? "" : fmt::format(", commit {}", tool.git_commit);
  return fmt::format("{} {}{}, {} build, {}", tool.name, tool.version, commit, tool.build_type, tool.compiler);
}

}  // namespace

std::string unit_text(const record::Throughput& throughput) {
  return throughput.scope == record::Scope::per_device ? fmt::format("{} per device", throughput.unit) : throughput.unit;
}

std::string throughput_text(const record::Throughput& throughput, const std::string& unit) {
  if (!throughput.value) return nothing;
  const std::string text = fmt::format("{}{}{}", significant(*throughput.value), unit.empty() ? "" : " ", unit);
  if (!throughput.low || !throughput.high) return fmt::format("{} (interval unknown)", text);
  const double half = std::max(*throughput.high - *throughput.value, *throughput.value - *throughput.low);
  // Far from symmetric: a "± 150 %" would say that it may be negative.
  if (half > wide_interval * *throughput.value)
    return fmt::format("{} ({} to {})", text, significant(*throughput.low), significant(*throughput.high));
  return fmt::format("{} ± {}", text, percent_text(half / *throughput.value));
}

ReportView view_of(const NamedReport& named) {
  const Report& report = named.report;
  ReportView view;
  view.title = fmt::format("{}: {}, {} {}, {}", named.name, record::to_word(report.status), report.cases.size(),
                           report.cases.size() == 1 ? "case" : "cases",
                           has_mixed_sources(report) ? "mixed sources" : record::to_word(report.provenance));
  view.circumstances = {fmt::format("{} on {}", report.created_utc, machine_text(report.environment)),
                        tool_text(report.tool)};
  view.command_line = repeat_text(report);
  view.cases = table_of(report);
  view.inference = inference_table(report);
  view.scaling = scaling_table(report);
  for (const Case& run : report.cases)
    if (auto notes = notes_of(run); !notes.empty()) view.notes.push_back({run.id, std::move(notes)});
  return view;
}

}  // namespace gpusizer::render
