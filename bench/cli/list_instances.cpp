// SPDX-License-Identifier: Apache-2.0
// The list of what can be rented, each price with its date; a missing price is said, never 0.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/cli/listing.hpp"
#include "cloud/catalog/catalog.hpp"

namespace gpusizer::cli {
namespace {

using nlohmann::ordered_json;
using render::Align;

std::string what_it_has(const cloud::Instance& row) {
  return row.gpu_count > 0 ? fmt::format("{} x {}", row.gpu_count, row.gpu) : row.cpu;
}

ordered_json json_of(const std::optional<cloud::Price>& price) {
  if (!price) return nullptr;
  ordered_json json = {{"usd_per_hour", price->usd_per_hour}, {"as_of", price->as_of}, {"source", price->source}};
  if (!price->flag.empty()) json["flag"] = price->flag;
  return json;
}

ordered_json json_of(const cloud::Instance& row) {
  ordered_json json = {{"cloud", row.cloud}, {"name", row.name}, {"region", row.region}, {"gpu", nullptr},
                       {"gpu_count", row.gpu_count}, {"cpu", nullptr}, {"vcpus", nullptr}, {"memory_gib", nullptr},
                       {"on_demand", json_of(row.on_demand)}, {"spot", json_of(row.spot)}, {"source", row.source}};
  if (!row.gpu.empty()) json["gpu"] = row.gpu;
  if (!row.cpu.empty()) json["cpu"] = row.cpu;
  if (row.vcpus) json["vcpus"] = *row.vcpus;
  if (row.memory_gib) json["memory_gib"] = *row.memory_gib;
  return json;
}

std::string text_of(const std::optional<cloud::Price>& price) {
  return price ? fmt::format("{:.4g}", price->usd_per_hour) : "no price";
}

std::string date_of(const cloud::Instance& row) {
  return row.on_demand ? row.on_demand->as_of : row.spot ? row.spot->as_of : "";
}

}  // namespace

Listing list_instances() {
  Listing listing{{{{"cloud"}, {"instance"}, {.heading = "region", .drop_order = 2}, {.heading = "has", .min_width = 12},
                    {.heading = "vCPUs", .align = Align::right, .drop_order = 1}, {"$/h", Align::right},
                    {"spot $/h", Align::right}, {"price of"}}, {}}, {}};
  ordered_json json = ordered_json::array();
  const auto catalog = cloud::load_catalog();
  for (const cloud::Instance& row : catalog.instances) {
    listing.table.rows.push_back({row.cloud, row.name, row.region, what_it_has(row),
                                  row.vcpus ? std::to_string(*row.vcpus) : "?", text_of(row.on_demand), text_of(row.spot),
                                  date_of(row)});
    json.push_back(json_of(row));
  }
  listing.json = json.dump(2) + "\n";
  return listing;
}

}  // namespace gpusizer::cli
