// SPDX-License-Identifier: Apache-2.0
// A table of published measurements: one case for each row that is a throughput.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "reports/import/foreign.hpp"
#include "reports/import/published_rows.hpp"

namespace gpusizer::import {
namespace {

record::Case case_of_row(const PublishedRow& row, const ForeignNames& names) {
  ForeignNames own = names;
  own.model = row.model, own.precision = row.precision, own.devices = row.gpus;
  own.gpu = row.gpu_memory.empty() ? row.gpu : fmt::format("{}-{}GB", row.gpu, row.gpu_memory);
  own.batch = static_cast<std::int64_t>(std::clamp(std::strtod(row.batch.c_str(), nullptr), 0.0, 1e9));
  record::Case one = published_case(fmt::format("line{}/{}/{}x{}/{}", row.line, row.model, row.gpus, row.gpu, row.precision), own, row.source);
  if (!row.dataset.empty()) one.config.data = row.dataset;
  if (row.batch.empty())
    one.validity_flags.push_back({.id = "no_batch", .sentence = "The batch was not published.", .blocks_advice = true, .unknown = {}});
  set_rate(one, row.throughput, row.unit);
  return one;
}

}  // namespace

record::Report import_csv(std::string_view text, const ForeignNames& names) {
  const PublishedTable table = read_published(parse_csv(text, names.origin), names.origin);
  record::Report report = published_report(names);
  for (const PublishedRow& row : table.rows) report.cases.push_back(case_of_row(row, names));
  for (const Finding& finding : table.held_out) {
    if (finding.kind == "not_throughput" || finding.kind == "duplicate") continue;
    record::Case one = published_case(fmt::format("line{}", finding.line), names, names.source.empty() ? names.origin : names.source);
    one.throughput.null_reason = "the row is held out";
    hold_out(one, finding.kind, finding.sentence);
    report.cases.push_back(std::move(one));
  }
  return report;
}

}  // namespace gpusizer::import
