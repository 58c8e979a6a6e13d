// SPDX-License-Identifier: Apache-2.0
// The catalogue as this user sees it: own prices, and rows for instance types that it does not have.
#include <fmt/format.h>

#include <algorithm>

#include "cloud/catalog/iso_date.hpp"
#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"
#include "reports/sizing/offers.hpp"

namespace gpusizer::sizing {
namespace {

void add_unknown_instances(cloud::Catalog& catalog, std::span<const Evidence> evidence) {
  for (const Evidence& one : evidence) {
    const Hardware& hardware = one.hardware;
    if (hardware.instance.empty()) continue;
    if (!cloud::instances_named(catalog, {hardware.cloud, hardware.instance, ""}).empty()) continue;
    cloud::Instance row;
    row.cloud = hardware.cloud;
    row.name = hardware.instance;
    row.gpu = hardware.gpu;
    row.gpu_count = hardware.gpu_count;
    row.source = "the report";
    catalog.instances.push_back(row);
  }
}

void apply(cloud::Catalog& catalog, const PriceOverride& price, const std::string& today) {
  const cloud::InstanceName name = cloud::parse_instance_name(price.name);
  bool used = false;
  for (cloud::Instance& row : catalog.instances) {
    if (!cloud::same_name(row.name, name.name) || (!name.cloud.empty() && !cloud::same_name(row.cloud, name.cloud)) ||
        (!name.region.empty() && !cloud::same_name(row.region, name.region)))
      continue;
    row.on_demand = cloud::Price{price.usd_per_hour, today, "", "--price", "your price", ""};
    row.spot.reset();
    used = true;
  }
  if (!used) cloud::find_instance(catalog, price.name, cloud::RegionPolicy::cheapest_on_demand);  // throws the refusal
}

bool is_same(const cloud::InstanceName& a, const cloud::InstanceName& b) {
  return cloud::same_name(a.cloud, b.cloud) && cloud::same_name(a.name, b.name) && cloud::same_name(a.region, b.region);
}

void refuse_second_price(std::span<const PriceOverride> prices) {
  std::vector<cloud::InstanceName> seen;
  for (const PriceOverride& price : prices) {
    const cloud::InstanceName name = cloud::parse_instance_name(price.name);
    if (std::any_of(seen.begin(), seen.end(), [&](const cloud::InstanceName& other) { return is_same(name, other); }))
      throw Error(Fault::usage, fmt::format("the price of {} is given twice", price.name), "--price", "give one of them");
    seen.push_back(name);
  }
}

}  // namespace

cloud::Catalog priced_catalog(const cloud::Catalog& catalog, std::span<const Evidence> evidence, const Goal& goal) {
  cloud::Catalog priced = catalog;
  refuse_second_price(goal.prices);
  add_unknown_instances(priced, evidence);
  for (const PriceOverride& price : goal.prices) apply(priced, price, cloud::iso_date(goal.now));
  return priced;
}

}  // namespace gpusizer::sizing
