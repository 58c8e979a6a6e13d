// SPDX-License-Identifier: Apache-2.0
// JSON -> rows.
#include "reports/published/published.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gpusizer/error.hpp"
#include "reports/import/notes_text.hpp"

namespace gpusizer::published {
namespace {

using nlohmann::json;

import::PublishedRow row_of(const json& one, const json& sources) {
  import::PublishedRow row;
  row.source = sources.at(one.at("source").get<std::size_t>()).at("source").get<std::string>();
  row.repository = import::repository_of(row.source);
  row.file = import::file_of(row.source);
  row.model = one.at("model"), row.framework = one.at("framework"), row.dataset = one.at("data");
  row.gpu = one.at("gpu"), row.precision = one.at("precision"), row.unit = one.at("unit");
  if (one.at("gpu_memory_gb").is_number()) row.gpu_memory = fmt::format("{:g}", one.at("gpu_memory_gb").get<double>());
  row.gpus = one.at("gpus"), row.nodes = one.at("nodes"), row.throughput = one.at("throughput");
  row.batch = fmt::format("{:g}", one.at("batch_per_gpu").get<double>());
  row.notes = one.value("notes", "");
  row.configuration = import::configuration_of(row.repository, row.notes);
  if (row.gpus < 1 || row.nodes < 1 || row.nodes > row.gpus || !(row.throughput > 0))
    throw Error(Fault::input, "a measurement is not above 0");
  return row;
}

}  // namespace

std::vector<import::PublishedRow> read_rows(std::string_view text, const std::string& origin) {
  const json tree = json::parse(text, nullptr, false);
  if (!tree.is_object() || tree.value("schema", "") != "gpusizer.published/1")
    throw Error(Fault::input, "it is no file of published measurements", origin, "give one with the schema gpusizer.published/1");
  std::vector<import::PublishedRow> result;
  std::size_t index = 0;
  try {
    for (const json& one : tree.at("measurements")) {
      result.push_back(row_of(one, tree.at("sources")));
      result.back().line = ++index;
    }
  } catch (const std::exception& error) {
    throw Error(Fault::input, "an entry is not a measurement", fmt::format("{}/measurements/{}", origin, index), "every field must be there");
  }
  return result;
}

std::vector<import::PublishedRow> rows() { return read_rows(embedded_measurements_json(), "built-in measurements"); }

std::string years_of(std::string_view source) {
  const json tree = json::parse(embedded_measurements_json());
  for (const json& one : tree.at("sources"))
    if (one.at("source").get<std::string>() == source) return one.at("published");
  return "";
}

}  // namespace gpusizer::published
