// SPDX-License-Identifier: Apache-2.0
// Cells -> rows, one check after the other.
#include "reports/import/published_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "gpusizer/error.hpp"
#include "reports/import/notes_text.hpp"
#include "reports/import/odd_rows.hpp"

namespace gpusizer::import {
namespace {

struct Columns {
  explicit Columns(const CsvTable& table)
      : source(table.column("source")), model(table.column("model")), framework(table.column("framework")),
        dataset(table.column("dataset")), gpu(table.column("gpu")), memory(table.column("gpu_mem_gb")),
        gpus(table.column("gpus")), nodes(table.column("nodes")), precision(table.column("precision")),
        batch(table.column("batch_per_gpu")), throughput(table.column("throughput")), unit(table.column("unit")),
        notes(table.column("notes")) {}

  std::size_t source, model, framework, dataset, gpu, memory, gpus, nodes, precision, batch, throughput, unit, notes;
};

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  while (*end == ' ') ++end;
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_whole(double value) { return value == std::floor(value) && value >= 1 && value <= 1e6; }

// Empty when the row can be read.
std::string read_numbers(const std::vector<std::string>& cells, const Columns& at, PublishedRow& row) {
  const auto gpus = number_of(cells[at.gpus]), rate = number_of(cells[at.throughput]);
  const auto nodes = cells[at.nodes].empty() ? std::optional(1.0) : number_of(cells[at.nodes]);
  if (!gpus || !is_whole(*gpus)) return fmt::format("'{}' is no number of GPUs", cells[at.gpus]);
  if (!nodes || !is_whole(*nodes)) return fmt::format("'{}' is no number of nodes", cells[at.nodes]);
  if (!rate || *rate <= 0) return fmt::format("'{}' is no throughput", cells[at.throughput]);
  if (*nodes > *gpus || std::fmod(*gpus, *nodes) != 0)
    return fmt::format("{} GPUs cannot be spread evenly over {} nodes", *gpus, *nodes);
  if (const auto& batch = cells[at.batch]; !batch.empty() && (!number_of(batch) || *number_of(batch) <= 0))
    return fmt::format("'{}' is no batch", batch);
  row.gpus = static_cast<int>(*gpus), row.nodes = static_cast<int>(*nodes), row.throughput = *rate;
  return "";
}

PublishedRow texts_of(const CsvRow& from, const Columns& at) {
  const auto& cells = from.cells;
  PublishedRow row;
  row.line = from.line, row.source = cells[at.source];
  row.repository = repository_of(row.source);
  row.file = file_of(row.source);
  row.model = cells[at.model], row.framework = cells[at.framework], row.dataset = cells[at.dataset];
  row.gpu = cells[at.gpu], row.gpu_memory = cells[at.memory], row.precision = cells[at.precision];
  row.batch = cells[at.batch], row.unit = cells[at.unit], row.notes = cells[at.notes];
  row.configuration = configuration_of(row.repository, row.notes);
  return row;
}

bool is_no_throughput(const PublishedRow& row) {
  static constexpr std::string_view units[] = {"GB/s busbw", "GB/s measured", "hours_to_target", "TFLOPS measured",
                                               "minutes_to_target", "scaling_efficiency", "efficiency"};
  static constexpr std::string_view models[] = {"allreduce", "GEMM", "matmul", "nvbandwidth"};
  return std::find(std::begin(units), std::end(units), row.unit) != std::end(units) ||
         std::any_of(std::begin(models), std::end(models),
                     [&](std::string_view word) { return row.model.find(word) != std::string::npos; });
}

// Competitions: each entry chooses batch and system anew.
bool changes_batch(const PublishedRow& row) {
  return row.repository.starts_with("mlcommons") || row.repository.find("dawn-bench") != std::string::npos;
}

std::optional<Finding> reason_to_hold_out(const PublishedRow& row) {
  if (is_no_throughput(row)) return Finding{row.line, "not_throughput", fmt::format("'{}' is no training throughput", row.unit)};
  if (changes_batch(row)) return Finding{row.line, "changes_batch", "batch and system change with the number of GPUs"};
  if (row.notes.starts_with("SUSPECT")) return Finding{row.line, "suspect", "its own notes doubt it"};
  return std::nullopt;
}

constexpr std::size_t longest_cell = 4096;

}  // namespace

PublishedTable read_published(const CsvTable& table, const std::string& origin) {
  const Columns at(table);
  PublishedTable result;
  std::set<std::vector<std::string>> seen;
  for (const CsvRow& cells : table.rows) {
    const auto hold_out = [&](const char* kind, std::string why) {
      result.held_out.push_back({cells.line, kind, std::move(why)});
    };
    if (cells.cells.size() != table.columns.size()) {
      hold_out("garbage", fmt::format("it has {} cells, the heading has {}", cells.cells.size(), table.columns.size()));
      continue;
    }
    if (std::any_of(cells.cells.begin(), cells.cells.end(), [](const auto& cell) { return cell.size() > longest_cell; })) {
      hold_out("garbage", fmt::format("a cell is longer than {} bytes", longest_cell));
      continue;
    }
    PublishedRow row = texts_of(cells, at);
    auto finding = reason_to_hold_out(row);
    const std::string problem = finding ? "" : read_numbers(cells.cells, at, row);
    if (!problem.empty()) finding = Finding{row.line, "garbage", problem};
    if (!finding && !seen.insert(cells.cells).second) finding = Finding{row.line, "duplicate", "the same row was there before"};
    if (finding) result.held_out.push_back(std::move(*finding));
    else result.rows.push_back(std::move(row));
  }
  hold_out_odd_rows(result);
  if (result.rows.empty())
    throw Error(Fault::input, fmt::format("none of the {} rows is a usable measurement{}", table.rows.size(),
                                          result.held_out.empty() ? "" : "; the first: " + result.held_out[0].sentence),
                origin);
  return result;
}

std::string series_key(const PublishedRow& row) {
  std::string file = row.file;
  if (row.repository.find("lambdal") != std::string::npos) file = base_name(file);  // a folder there is one machine
  if (row.repository.find("ryujaehun") != std::string::npos) file = without_gpu_count(file);
  std::string key;
  for (const std::string* part : std::initializer_list<const std::string*>{
           &row.repository, &file, &row.model, &row.framework, &row.dataset, &row.gpu, &row.gpu_memory, &row.precision,
           &row.batch, &row.unit, &row.configuration})
    key += *part + '\x1f';
  return key;
}

}  // namespace gpusizer::import
