// SPDX-License-Identifier: Apache-2.0
// Rows of ranks, speed-up and efficiency.
#include "reports/render/scaling_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "reports/render/report_view.hpp"
#include "reports/render/units.hpp"

namespace gpusizer::render {
namespace {

using record::Case;

constexpr const char* none = "-";

double half_width(const record::Ratio& ratio) { return std::max(ratio.high - ratio.value, ratio.value - ratio.low); }

std::string layout_text(const Case& run) {
  const auto& p = run.config.parallel;
  if (!p || p->ranks == 1) return std::to_string(run.config.devices);
  std::string text = fmt::format("{} ", p->ranks);
  if (p->dp > 1) text += fmt::format("dp{}", p->dp);
  if (p->pp > 1) text += fmt::format("pp{}", p->pp);
  if (p->tp > 1) text += fmt::format("tp{}", p->tp);
  return text;
}

Cell model_of(const Case& run) { return run.config.model; }
Cell precision_of(const Case& run) { return run.config.precision; }
Cell batch_of(const Case& run) { return std::to_string(run.config.batch_per_replica); }
Cell also_of(const Case& run) {
  const std::string words = run.config.parallel ? layout_words(*run.config.parallel) : "";
  return words.empty() ? none : words;
}
Cell ranks_of(const Case& run) { return layout_text(run); }
Cell throughput_of(const Case& run) { return throughput_text(run.throughput, ""); }
Cell speedup_of(const Case& run) {
  return run.scaling && run.scaling->speedup ? ratio_text(*run.scaling->speedup) : none;
}
Cell efficiency_of(const Case& run) {
  if (!run.scaling || !run.scaling->efficiency) return none;
  const record::Ratio& e = *run.scaling->efficiency;
  return fmt::format("{:.1f} ± {:.1f} %", 100 * e.value, 100 * half_width(e));
}
Cell exposed_of(const Case& run) {
  return run.communication && run.communication->exposed_seconds ? time_text(*run.communication->exposed_seconds) : none;
}
Cell slowest_of(const Case& run) {
  return run.communication && run.communication->slowest_rank ? fmt::format("rank {}", *run.communication->slowest_rank)
                                                              : none;
}

struct RowColumn {
  Column column;
  Cell (*cell)(const Case&);
  bool only_if_it_differs = false;
};

const std::vector<RowColumn>& row_columns() {
  static const std::vector<RowColumn> columns = {{{"model", Align::left, 0, 7}, model_of, true},
                                                 {{"precision"}, precision_of, true},
                                                 {{"batch", Align::right}, batch_of, true},
                                                 {{"also", Align::left, 0, 9}, also_of, true},
                                                 {{"ranks"}, ranks_of},
                                                 {{"throughput", Align::right}, throughput_of},
                                                 {{"speed-up", Align::right}, speedup_of},
                                                 {{"efficiency", Align::right}, efficiency_of},
                                                 {{"exposed", Align::right}, exposed_of},
                                                 {{"slowest", Align::left, 1}, slowest_of}};
  return columns;
}

std::vector<const Case*> rows_of(const record::Report& report) {
  std::set<std::string> compared_with;
  for (const Case& run : report.cases)
    if (run.scaling) compared_with.insert(run.scaling->baseline_case);
  std::vector<const Case*> rows;
  for (const Case& run : report.cases)
    if (run.config.devices > 1 || compared_with.contains(run.id)) rows.push_back(&run);
  return rows;
}

bool is_same_everywhere(const std::vector<const Case*>& rows, const RowColumn& column) {
  return std::ranges::all_of(rows, [&](const Case* run) { return column.cell(*run).text == column.cell(*rows[0]).text; });
}

std::string heading_of(const std::vector<const Case*>& rows) {
  const std::string unit = unit_text(rows[0]->throughput);
  const bool shared = std::ranges::all_of(rows, [&](const Case* run) { return unit_text(run->throughput) == unit; });
  return shared ? unit : "samples/s";
}

}  // namespace

std::string ratio_text(const record::Ratio& ratio) {
  return fmt::format("{:.2f} ± {:.2f}", ratio.value, half_width(ratio));
}

std::string layout_words(const record::Parallel& p) {
  std::vector<std::string> words;
  const auto add = [&](bool holds, const std::string& word) {
    if (holds) words.push_back(word);
  };
  add(!p.stages.empty(), fmt::format("stages {}", fmt::join(p.stages, "-")));
  add(p.schedule == "gpipe", "gpipe");
  add(p.mode == "local_sgd", fmt::format("local SGD {}", p.period));
  add(p.mode == "async", fmt::format("asynchronous, staleness {}", p.staleness));
  add(p.sharded_optimizer, "sharded");
  add(p.recompute, "recompute");
  add(p.sync_batch_norm, "sync norm");
  add(p.norm_group > 0, fmt::format("norm {}", p.norm_group));
  add(p.wire.has_value(), "simulated wire");
  return fmt::format("{}", fmt::join(words, ", "));
}

Table scaling_table(const record::Report& report) {
  Table table;
  const std::vector<const Case*> rows = rows_of(report);
  if (rows.empty()) return table;
  std::vector<RowColumn> columns = row_columns();
  std::erase_if(columns, [&](const RowColumn& one) { return one.only_if_it_differs && is_same_everywhere(rows, one); });
  for (const RowColumn& one : columns) {
    table.columns.push_back(one.column);
    if (one.cell == throughput_of) table.columns.back().heading = heading_of(rows);
  }
  for (const Case* run : rows) {
    auto& row = table.rows.emplace_back();
    for (const RowColumn& one : columns) row.push_back(one.cell(*run));
  }
  return table;
}

}  // namespace gpusizer::render
