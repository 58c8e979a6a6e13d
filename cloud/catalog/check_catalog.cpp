// SPDX-License-Identifier: Apache-2.0
// The rules that every catalogue must keep, so that nothing behind it has to doubt a row.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "cloud/catalog/catalog.hpp"
#include "cloud/catalog/iso_date.hpp"
#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::cloud {
namespace {

[[noreturn]] void refuse(const Catalog& catalog, const std::string& row, const std::string& problem) {
  throw Error(Fault::input, fmt::format("the catalogue row {} {}", row, problem),
              fmt::format("catalogue: {}", catalog.origin), "correct the row");
}

std::string row_name(const Instance& instance) {
  return fmt::format("{}:{}@{}", instance.cloud, instance.name, instance.region);
}

bool positive(double value) { return std::isfinite(value) && value > 0; }

void check_gpus(const Catalog& catalog) {
  std::set<std::string> names;
  for (const Gpu& gpu : catalog.gpus) {
    if (!names.insert(lower_case(gpu.name)).second) refuse(catalog, gpu.name, "is there twice");
    if (!positive(gpu.memory_gb)) refuse(catalog, gpu.name, "has no memory");
    if (!positive(gpu.memory_bandwidth_gbs)) refuse(catalog, gpu.name, "has no memory bandwidth");
    if (!first_day_of(gpu.as_of))
      refuse(catalog, gpu.name, fmt::format("has the date \"{}\", which is none", gpu.as_of));
  }
  const std::set<std::string> gpus = names;
  for (const GpuAlias& alias : catalog.aliases) {
    if (!names.insert(lower_case(alias.alias)).second) refuse(catalog, alias.alias, "is the name of two GPUs");
    if (!gpus.contains(lower_case(alias.gpu)))
      refuse(catalog, alias.alias, fmt::format("is an alias of the unknown GPU \"{}\"", alias.gpu));
  }
}

void check_price(const Catalog& catalog, const Instance& instance, const std::optional<Price>& price) {
  if (!price) return;
  if (!positive(price->usd_per_hour)) refuse(catalog, row_name(instance), "has a price that is not above 0");
  if (!first_day_of(price->as_of))
    refuse(catalog, row_name(instance), fmt::format("has the price date \"{}\", which is none", price->as_of));
  if (price->source.empty() || price->market.empty())
    refuse(catalog, row_name(instance), "has a price without source or market");
}

void check_instance(const Catalog& catalog, const Instance& instance) {
  const std::string row = row_name(instance);
  if (instance.gpu.empty() && instance.cpu.empty()) refuse(catalog, row, "names neither a GPU nor a CPU");
  if (instance.gpu.empty() != (instance.gpu_count == 0))
    refuse(catalog, row, "has a GPU without a count or a count without a GPU");
  if (!instance.gpu.empty() && find_gpu(catalog, instance.gpu) == nullptr)
    refuse(catalog, row, fmt::format("has the GPU \"{}\", which is neither a GPU nor an alias", instance.gpu));
  if (instance.memory_gib && !positive(*instance.memory_gib)) refuse(catalog, row, "has no memory");
  check_price(catalog, instance, instance.on_demand);
  check_price(catalog, instance, instance.spot);
  if (instance.on_demand && instance.spot && instance.on_demand->flag.empty() && instance.spot->flag.empty() &&
      instance.spot->usd_per_hour >= instance.on_demand->usd_per_hour)
    refuse(catalog, row, "has a spot price that is not below on-demand and no flag that says why");
}

}  // namespace

void check_catalog(const Catalog& catalog) {
  check_gpus(catalog);
  std::set<std::string> rows;
  for (const Instance& instance : catalog.instances) {
    check_instance(catalog, instance);
    if (!rows.insert(lower_case(row_name(instance))).second) refuse(catalog, row_name(instance), "is there twice");
  }
  for (const Billing& billing : catalog.billing)
    if (!positive(billing.minimum_seconds) || !positive(billing.granularity_seconds) || !first_day_of(billing.as_of))
      refuse(catalog, "billing of " + billing.cloud, "needs a minimum and a granularity above 0 and a date");
}

}  // namespace gpusizer::cloud
