// SPDX-License-Identifier: Apache-2.0
// From the name that a driver or a person gives to the row of the catalogue.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "cloud/catalog/catalog.hpp"
#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::cloud {
namespace {

bool same(std::string_view a, std::string_view b) { return lower_case(a) == lower_case(b); }

[[noreturn]] void refuse_unknown(const Catalog& catalog, const InstanceName& name) {
  std::vector<std::string> known;
  for (const Instance& instance : catalog.instances) known.push_back(instance.name);
  const std::vector<std::string> nearest = nearest_names(name.name, known, 3);
  const std::string hint =
      nearest.empty() ? "see `gpusizer list instances`" : fmt::format("did you mean {}?", fmt::join(nearest, ", "));
  std::set<std::string> places;
  for (const Instance* other : instances_named(catalog, {"", name.name, ""}))
    places.insert(other->region.empty() ? other->cloud + ":" + other->name
                                        : fmt::format("{}:{}@{}", other->cloud, other->name, other->region));
  throw Error(Fault::usage, fmt::format("the catalogue has no instance \"{}\"", to_text(name)), "",
              places.empty() ? hint : fmt::format("it has {}", fmt::join(places, ", ")));
}

double on_demand_usd(const Instance& instance) {
  return instance.on_demand ? instance.on_demand->usd_per_hour : std::numeric_limits<double>::infinity();
}

}  // namespace

const Gpu* find_gpu(const Catalog& catalog, std::string_view name) {
  std::string wanted(name);
  for (const GpuAlias& alias : catalog.aliases)
    if (same(alias.alias, wanted)) wanted = alias.gpu;
  for (const Gpu& gpu : catalog.gpus)
    if (same(gpu.name, wanted)) return &gpu;
  return nullptr;
}

InstanceName parse_instance_name(std::string_view text) {
  InstanceName parts;
  if (const auto colon = text.find(':'); colon != text.npos) {
    parts.cloud = std::string(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  if (const auto at = text.rfind('@'); at != text.npos) {
    parts.region = std::string(text.substr(at + 1));
    text = text.substr(0, at);
  }
  parts.name = std::string(text);
  return parts;
}

std::string to_text(const InstanceName& name) {
  return (name.cloud.empty() ? "" : name.cloud + ":") + name.name + (name.region.empty() ? "" : "@" + name.region);
}

std::vector<const Instance*> instances_named(const Catalog& catalog, const InstanceName& name) {
  std::vector<const Instance*> found;
  for (const Instance& instance : catalog.instances)
    if (same(instance.name, name.name) && (name.cloud.empty() || same(instance.cloud, name.cloud)) &&
        (name.region.empty() || same(instance.region, name.region)))
      found.push_back(&instance);
  return found;
}

const Instance& find_instance(const Catalog& catalog, std::string_view name, RegionPolicy policy) {
  const InstanceName wanted = parse_instance_name(name);
  const std::vector<const Instance*> found = instances_named(catalog, wanted);
  if (found.empty()) refuse_unknown(catalog, wanted);
  std::set<std::string> clouds, regions;
  for (const Instance* instance : found) {
    clouds.insert(instance->cloud);
    regions.insert(instance->region);
  }
  if (clouds.size() > 1)
    throw Error(Fault::usage, fmt::format("several clouds have an instance \"{}\": {}", name, fmt::join(clouds, ", ")),
                "", fmt::format("write {}:{}", *clouds.begin(), name));
  if (regions.size() > 1 && policy == RegionPolicy::refuse)
    throw Error(Fault::usage, fmt::format("\"{}\" is offered in several regions: {}", name, fmt::join(regions, ", ")),
                "", fmt::format("write {}@{}", name, *regions.begin()));
  return **std::min_element(found.begin(), found.end(),
                            [](const Instance* a, const Instance* b) { return on_demand_usd(*a) < on_demand_usd(*b); });
}

std::optional<Billing> billing_of(const Catalog& catalog, std::string_view cloud) {
  for (const Billing& billing : catalog.billing)
    if (same(billing.cloud, cloud)) return billing;
  return std::nullopt;
}

}  // namespace gpusizer::cloud
