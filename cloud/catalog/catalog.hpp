// SPDX-License-Identifier: Apache-2.0
// What can be rented: GPUs, instance types and their dated prices, and how to find one by its name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpusizer::cloud {

// One GPU variant as a data sheet describes it. Tensor rates are dense (no sparsity). An unknown number is nothing,
// never 0.
struct Gpu {
  std::string name;  // the catalogue's own name, unique: "A100-SXM4-80GB"
  std::string vendor, architecture, compute_capability, memory_type;
  double memory_gb = 0;
  double memory_bandwidth_gbs = 0;
  std::optional<double> fp32_tflops, tf32_tflops, fp16_tflops, bf16_tflops, fp8_tflops, int8_tops;
  std::optional<double> link_gbs_both_ways;  // NVLink or Infinity Fabric, both directions together
  std::optional<double> power_watts;
  std::optional<int> pcie_generation, multiprocessors;
  std::string source, as_of, note;
};

// Another name of a GPU: what its driver or a price list calls it.
struct GpuAlias {
  std::string alias, gpu;
};

// USD per hour of the whole instance. Always above 0: an unknown price is a missing Price.
struct Price {
  double usd_per_hour = 0;
  std::string as_of;       // ISO date of the price, sometimes only YYYY-MM or YYYY
  std::string as_of_note;  // "or older" and the like; mostly empty
  std::string source;
  std::string market;  // "on-demand", "spot", "marketplace", "community", "override", ...
  std::string flag;    // why the price must not be trusted; empty when nothing speaks against it
};

// One instance type in one region.
struct Instance {
  std::string cloud, name;
  std::string region;  // "all" for one price everywhere; empty when the source does not say
  std::string gpu;     // name in Catalog::gpus; empty for an instance without GPU
  int gpu_count = 0;
  std::string cpu;  // for an instance without GPU
  std::optional<int> vcpus, physical_cores;
  std::optional<double> memory_gib, network_gbps;
  std::string interconnect;  // between the GPUs; empty when unknown
  std::optional<Price> on_demand, spot;
  std::string source, note;
};

// How a cloud rounds the billed time of an instance.
struct Billing {
  std::string cloud;
  double minimum_seconds = 0, granularity_seconds = 1;
  std::string source, as_of;
};

struct Catalog {
  std::vector<Gpu> gpus;
  std::vector<GpuAlias> aliases;
  std::vector<Instance> instances;
  std::vector<Billing> billing;
  std::string origin;  // "built in", or the path that replaced a part of it
};

// The catalogue compiled into the program. `path` replaces a part of it: a file (its "schema" field says which part) or
// a folder with gpus.json or instances.json or both. Throws Error(input) naming file and JSON pointer when a row breaks
// a rule of check_catalog or the file cannot be read.
Catalog load_catalog(const std::optional<std::filesystem::path>& path = std::nullopt);

// The rules: names unique; memory, rates and prices above 0 and finite; dates ISO; every GPU name known; on instances
// with a GPU at least one of it; spot below on-demand unless one of the two is flagged. Throws Error(input) with the
// first breach.
void check_catalog(const Catalog& catalog);

// By name or alias, without regard to case; nullptr when unknown.
const Gpu* find_gpu(const Catalog& catalog, std::string_view name);

// What a person writes for an instance: [CLOUD:]NAME[@REGION].
struct InstanceName {
  std::string cloud, name, region;  // cloud and region may be empty
};
InstanceName parse_instance_name(std::string_view text);
std::string to_text(const InstanceName& name);

// Every row that `name` can mean, in the order of the catalogue; exact apart from case.
std::vector<const Instance*> instances_named(const Catalog& catalog, const InstanceName& name);

enum class RegionPolicy {
  cheapest_on_demand,  // of several regions, the one with the lowest on-demand price; one without a price comes last
  refuse,              // several regions are an error that names them
};

// The one instance `name` means. Throws Error(usage) when there is none (naming the nearest), when several clouds have
// the name, or when several regions have it and the policy is to refuse.
const Instance& find_instance(const Catalog& catalog, std::string_view name, RegionPolicy policy);

// The rounding of a cloud; nothing when the catalogue does not say.
std::optional<Billing> billing_of(const Catalog& catalog, std::string_view cloud);

}  // namespace gpusizer::cloud
