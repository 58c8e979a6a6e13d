// SPDX-License-Identifier: Apache-2.0
// A table of published measurements -> rows that can be compared, and what was left out with its reason.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/import/csv_table.hpp"

namespace gpusizer::import {

// One measurement of somebody else. Throughput is of all GPUs together.
struct PublishedRow {
  std::size_t line = 0;  // in its file
  std::string source;    // as it stands: "OWNER/REPOSITORY@COMMIT:PATH"
  std::string repository, file;  // the parts of it: who measured, and in which table
  std::string model, framework, dataset, gpu, gpu_memory, precision, batch, unit;
  int gpus = 1, nodes = 1;
  double throughput = 0;
  std::string notes, configuration;  // configuration: the notes without what was measured for this row alone
};

// A row that is not used, or used with doubt. `kind`, for machines: "garbage", "duplicate", "not_throughput",
// "changes_batch", "suspect", "faster_than_its_gpus", "far_from_neighbours", "impossible_steps".
struct Finding {
  std::size_t line = 0;
  std::string kind, sentence;
};

struct PublishedTable {
  std::vector<PublishedRow> rows;  // those to be used, in the order of the file
  std::vector<Finding> held_out;
};

// Columns: source, model, framework, dataset, gpu, gpu_mem_gb, gpus, nodes, precision, batch_per_gpu, throughput, unit,
// notes; others are not looked at. Throws Error(input) for a missing column, or when no row can be used.
// Held out are rows with numbers that cannot be (garbage), exact repetitions, units that are not a throughput, tables in
// which batch and system change with the count, rows that their own notes call SUSPECT; then, among the counts of one
// workload, speed-ups beyond the number of GPUs and values 50 times away from their neighbours.
PublishedTable read_published(const CsvTable& table, const std::string& origin);

// The rows of one workload on one kind of GPU at one batch, whatever their count, have the same key.
std::string series_key(const PublishedRow& row);

}  // namespace gpusizer::import
