// SPDX-License-Identifier: Apache-2.0
// gpus.json and instances.json: from JSON text to structs.
#include "cloud/catalog/read_catalog.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cloud/catalog/json_row.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::cloud {
namespace {

using Sources = std::map<std::string, std::string>;

nlohmann::json parse(std::string_view text, const std::string& file) {
  try {
    return nlohmann::json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(Fault::input, "the catalogue is not valid JSON", fmt::format("{} byte {}", file, error.byte),
                "correct the file or leave it out to use the built-in catalogue");
  } catch (const nlohmann::json::exception&) {
    throw Error(Fault::input, "the catalogue holds a number that is out of range", file, "correct the file");
  }
}

// Rows name their source by a short word; the file's table has the whole sentence.
Sources read_sources(const JsonRow& file) {
  Sources sources;
  if (const auto table = file.object_or_nothing("sources"))
    for (const auto& [word, sentence] : table->json().items()) sources[word] = table->text(word.c_str());
  return sources;
}

std::string source_of(const JsonRow& row, const Sources& sources, const std::string& of_the_row = "") {
  const std::string word = row.text_or_empty("source");
  if (word.empty() && !of_the_row.empty()) return of_the_row;
  const auto found = sources.find(word);
  if (found == sources.end())
    row.refuse(fmt::format("the source \"{}\" is not in the file's table \"sources\"", word), "source");
  return found->second;
}

Gpu read_gpu(const JsonRow& row, const Sources& sources) {
  Gpu gpu;
  gpu.name = row.text("name");
  gpu.vendor = row.text("vendor");
  gpu.architecture = row.text("architecture");
  gpu.compute_capability = row.text_or_empty("compute_capability");
  gpu.memory_type = row.text_or_empty("memory_type");
  gpu.memory_gb = row.positive("memory_gb");
  gpu.memory_bandwidth_gbs = row.positive("memory_bandwidth_gbs");
  gpu.fp32_tflops = row.positive_or_nothing("fp32_tflops");
  gpu.tf32_tflops = row.positive_or_nothing("tf32_tflops");
  gpu.fp16_tflops = row.positive_or_nothing("fp16_tflops");
  gpu.bf16_tflops = row.positive_or_nothing("bf16_tflops");
  gpu.fp8_tflops = row.positive_or_nothing("fp8_tflops");
  gpu.int8_tops = row.positive_or_nothing("int8_tops");
  gpu.link_gbs_both_ways = row.positive_or_nothing("link_gbs_both_ways");
  gpu.power_watts = row.positive_or_nothing("power_watts");
  gpu.pcie_generation = row.count_or_nothing("pcie_generation");
  gpu.multiprocessors = row.count_or_nothing("multiprocessors");
  gpu.source = source_of(row, sources);
  gpu.as_of = row.text("as_of");
  gpu.note = row.text_or_empty("note");
  return gpu;
}

std::optional<Price> read_price(const JsonRow& row, const char* slot, const std::string& market, const Sources& sources,
                                const std::string& source_of_row) {
  const std::optional<JsonRow> given = row.object_or_nothing(slot);
  if (!given) return std::nullopt;
  Price price;
  price.usd_per_hour = given->positive("usd_per_hour");
  price.as_of = given->text("as_of");
  price.as_of_note = given->text_or_empty("as_of_note");
  price.source = source_of(*given, sources, source_of_row);
  price.market = given->text_or_empty("market");
  if (price.market.empty()) price.market = market;
  price.flag = given->text_or_empty("flag");
  return price;
}

Instance read_instance(const JsonRow& row, const Sources& sources) {
  Instance instance;
  instance.cloud = row.text("cloud");
  instance.name = row.text("name");
  instance.region = row.text_or_empty("region");
  instance.gpu = row.text_or_empty("gpu");
  instance.gpu_count = row.count_or_nothing("gpu_count").value_or(0);
  instance.cpu = row.text_or_empty("cpu");
  instance.vcpus = row.count_or_nothing("vcpus");
  instance.physical_cores = row.count_or_nothing("physical_cores");
  instance.memory_gib = row.positive_or_nothing("memory_gib");
  instance.interconnect = row.text_or_empty("interconnect");
  instance.network_gbps = row.positive_or_nothing("network_gbps");
  instance.source = source_of(row, sources);
  instance.on_demand = read_price(row, "on_demand", "on-demand", sources, instance.source);
  instance.spot = read_price(row, "spot", "spot", sources, instance.source);
  instance.note = row.text_or_empty("note");
  return instance;
}

void read_gpus(Catalog& catalog, const JsonRow& file) {
  const Sources sources = read_sources(file);
  catalog.gpus.clear();
  catalog.aliases.clear();
  for (std::size_t i = 0; i < file.list("gpus").size(); ++i)
    catalog.gpus.push_back(read_gpu(file.element("gpus", i), sources));
  for (std::size_t i = 0; i < file.list("aliases").size(); ++i) {
    const JsonRow row = file.element("aliases", i);
    catalog.aliases.push_back({row.text("alias"), row.text("gpu")});
  }
}

void read_instances(Catalog& catalog, const JsonRow& file) {
  const Sources sources = read_sources(file);
  catalog.instances.clear();
  catalog.billing.clear();
  for (std::size_t i = 0; i < file.list("instances").size(); ++i)
    catalog.instances.push_back(read_instance(file.element("instances", i), sources));
  for (std::size_t i = 0; i < file.list("billing").size(); ++i) {
    const JsonRow row = file.element("billing", i);
    catalog.billing.push_back({row.text("cloud"), row.positive("minimum_seconds"), row.positive("granularity_seconds"),
                               row.text("source"), row.text("as_of")});
  }
}

}  // namespace

void read_catalog_part(Catalog& catalog, std::string_view text, const std::string& file) {
  const nlohmann::json json = parse(text, file);
  const JsonRow root(json, file, "");
  const std::string schema = root.text("schema");
  if (schema == gpus_schema) return read_gpus(catalog, root);
  if (schema == instances_schema) return read_instances(catalog, root);
  throw Error(Fault::input, fmt::format("\"{}\" is no catalogue that this version reads", schema), file + " /schema",
              fmt::format("use \"{}\" or \"{}\"", gpus_schema, instances_schema));
}

}  // namespace gpusizer::cloud
