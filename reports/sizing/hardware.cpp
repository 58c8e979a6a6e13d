// SPDX-License-Identifier: Apache-2.0
// Matching of a case to an instance type or to a GPU and its count; what is not known is not guessed.
#include "reports/sizing/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"
#include "reports/sizing/evidence.hpp"

namespace gpusizer::sizing {
namespace {

bool is_own_name(const std::string& name, std::span<const PriceOverride> own_names) {
  return std::any_of(own_names.begin(), own_names.end(), [&](const PriceOverride& price) {
    return cloud::same_name(cloud::parse_instance_name(price.name).name, name);
  });
}

void check_against_detected(const ReportInput& input, const StatedInstance& stated) {
  const auto& detected = input.report.environment.instance;
  if (!detected || cloud::same_name(detected->type, stated.name)) return;
  throw Error(
      Fault::usage,
      fmt::format("{} was measured on {} {}, not on {}", input.name, detected->cloud, detected->type, stated.name),
      "--as", "leave --as out for this report");
}

// "Intel" or "AMD" in a CPU's name; empty when neither or both.
std::string vendor_of(const std::string& cpu) {
  const std::string lower = cloud::lower_case(cpu);
  const bool intel = lower.find("intel") != lower.npos, amd = lower.find("amd") != lower.npos;
  if (intel == amd) return "";
  return intel ? "Intel" : "AMD";
}

std::vector<std::string> stated_warnings(const record::Environment& machine, const cloud::Instance& row) {
  std::vector<std::string> warnings;
  if (row.vcpus && machine.cpu_threads && *machine.cpu_threads != *row.vcpus)
    warnings.push_back(fmt::format("stated as {}, which has {} vCPUs, but measured with {} CPU threads", row.name,
                                   *row.vcpus, *machine.cpu_threads));
  const std::string there = vendor_of(row.cpu), here = vendor_of(machine.cpu_model);
  if (!there.empty() && !here.empty() && there != here)
    warnings.push_back(fmt::format("stated as {} ({}), but measured on {}", row.name, row.cpu, machine.cpu_model));
  return warnings;
}

// A job on more devices than this machine has ran on several machines; ranks that are threads share one.
bool on_one_machine(const record::Report& report, const record::Case& one) {
  if (one.config.parallel && one.config.parallel->transport == "threads") return true;
  std::int64_t here = 0;
  for (const record::Device& device : report.environment.devices) here += device.kind == one.config.device_kind ? 1 : 0;
  return here == 0 || one.config.devices <= here;
}

// The rows of the instance type that the report says it ran on, in the catalogue's spelling; none when it has no such
// type.
std::vector<const cloud::Instance*> detected_rows(const record::Report& report, const cloud::Catalog& catalog) {
  const auto& detected = report.environment.instance;
  if (!detected) return {};
  return cloud::instances_named(catalog, {detected->cloud, detected->type, ""});
}

void set_instance(HardwareMatch& match, const record::Report& report, const StatedInstance& stated,
                  const std::vector<const cloud::Instance*>& rows) {
  match.stated = stated.given;
  if (stated.given) {
    match.hardware.cloud = stated.cloud;
    match.hardware.instance = stated.name;
  } else if (report.environment.instance) {
    match.hardware.cloud = rows.empty() ? report.environment.instance->cloud : rows.front()->cloud;
    match.hardware.instance = rows.empty() ? report.environment.instance->type : rows.front()->name;
  }
}

HardwareMatch match_cpu(const record::Report& report, const StatedInstance& stated, const cloud::Catalog& catalog) {
  HardwareMatch match;
  const auto rows = stated.given ? stated.rows : detected_rows(report, catalog);
  set_instance(match, report, stated, rows);
  if (match.hardware.instance.empty())
    match.problem = "the instance it ran on is not known; name it with --as, for example --as c7i.xlarge";
  else if (!rows.empty() && !rows.front()->gpu.empty())
    match.problem = fmt::format("a CPU run says nothing about {}, which is rented for its GPUs", rows.front()->name);
  else if (!stated.rows.empty())
    match.warnings = stated_warnings(report.environment, *stated.rows.front());
  return match;
}

bool has_gpus(const cloud::Instance& row, const Hardware& hardware) {
  return row.gpu == hardware.gpu && row.gpu_count == hardware.gpu_count;
}

HardwareMatch match_gpu(const record::Report& report, const record::Case& one, const StatedInstance& stated,
                        const cloud::Catalog& catalog) {
  HardwareMatch match;
  const cloud::Gpu* gpu = cloud::find_gpu(catalog, one.config.device);
  if (gpu == nullptr) {
    match.problem = fmt::format("the catalogue does not know the GPU \"{}\"", one.config.device);
    return match;
  }
  match.hardware = {"", "", gpu->name, static_cast<int>(std::min<std::int64_t>(one.config.devices, 1'000'000))};
  const std::string ran_on = to_text(match.hardware);
  const auto rows = stated.given ? stated.rows : detected_rows(report, catalog);
  if (!rows.empty() && !has_gpus(*rows.front(), match.hardware)) {
    // A part of an instance: good for instances that have just this, but not for that one.
    const cloud::Instance& row = *rows.front();
    const std::string whole = fmt::format(
        "{}, which has {}", row.name, row.gpu.empty() ? "no GPU" : to_text(Hardware{"", "", row.gpu, row.gpu_count}));
    if (stated.given) match.problem = fmt::format("it ran on {}, not on {}", ran_on, whole);
    match.warnings.push_back(fmt::format("measured on {} of {}", ran_on, whole));
  } else {
    set_instance(match, report, stated, rows);
  }
  if (match.problem.empty() && match.hardware.instance.empty() &&
      std::none_of(catalog.instances.begin(), catalog.instances.end(),
                   [&](const cloud::Instance& row) { return has_gpus(row, match.hardware); }))
    match.problem = fmt::format("no instance of the catalogue has {}", ran_on);
  return match;
}

}  // namespace

StatedInstance stated_instance(const ReportInput& input, const cloud::Catalog& catalog,
                               std::span<const PriceOverride> own_names) {
  StatedInstance stated;
  if (input.as_instance.empty()) return stated;
  stated.given = true;
  const cloud::InstanceName name = cloud::parse_instance_name(input.as_instance);
  stated.rows = cloud::instances_named(catalog, name);
  if (stated.rows.empty() && is_own_name(name.name, own_names)) {
    stated.cloud = name.cloud.empty() ? "own" : name.cloud;
    stated.name = name.name;
  } else {
    // Looks the name up again for its errors: unknown, or in several clouds.
    const cloud::Instance& row =
        cloud::find_instance(catalog, input.as_instance, cloud::RegionPolicy::cheapest_on_demand);
    stated.cloud = row.cloud;
    stated.name = row.name;
  }
  check_against_detected(input, stated);
  return stated;
}

HardwareMatch match_hardware(const record::Report& report, const record::Case& one, const StatedInstance& stated,
                             const cloud::Catalog& catalog) {
  HardwareMatch match;
  if (!on_one_machine(report, one)) {
    match.problem = "it ran on several machines; the catalogue prices single instances";
    return match;
  }
  if (one.config.device_kind == "cpu") return match_cpu(report, stated, catalog);
  const bool for_cpu_runs = !stated.rows.empty() && stated.rows.front()->gpu.empty();
  if (!for_cpu_runs) return match_gpu(report, one, stated, catalog);
  // One --as may stand for CPU and GPU reports together.
  match = match_gpu(report, one, StatedInstance{}, catalog);
  match.warnings.push_back(fmt::format("--as {} was not used: it has no GPU, this run did", stated.name));
  return match;
}

}  // namespace gpusizer::sizing
