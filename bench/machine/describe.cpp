// SPDX-License-Identifier: Apache-2.0
// Asks the system what it is.
#include "bench/machine/describe.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <sstream>

#include "bench/machine/cpu.hpp"
#include "bench/machine/memory.hpp"
#include "bench/machine/text_file.hpp"
#include "bench/version.hpp"
#include "workloads/backend/backend.hpp"

namespace gpusizer {
namespace {

using record::Maybe;

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::int64_t usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return sysconf(_SC_NPROCESSORS_ONLN);
}

void add_backends(record::Environment& environment) {
  for (const auto& backend : make_backends()) {
    // The oracle of the tests and an emulated device are nothing that anybody rents.
    if (backend->name() == "reference" || backend->name() == "cuda-emulated") continue;
    for (const Device& device : backend->probe().devices)
      environment.devices.push_back({.kind = device.backend, .name = device.model,
                                     .memory_bytes = static_cast<std::int64_t>(device.memory_bytes)});
    for (const auto& [library, version] : backend->libraries()) environment.libraries[library] = version;
  }
}

void add_system(record::Environment& environment) {
  utsname system{};
  if (uname(&system) == 0) {
    environment.host_name = system.nodename;
    environment.kernel = std::string(system.sysname) + " " + system.release;
  }
  environment.os = parse_os_release(read_text_file("/etc/os-release"));
}

void add_cpu(record::Environment& environment) {
  CpuInfo cpu = parse_cpu_info(read_text_file("/proc/cpuinfo"));
  environment.cpu_model = cpu.model;
  environment.cpu_flags = cpu.flags;
  environment.cpu_cores = Maybe<std::int64_t>(cpu.physical_cores, "the system does not say");
  environment.cpu_threads = usable_threads();
  environment.memory_bytes = Maybe<std::int64_t>(total_memory_bytes(), "the system does not say");
}

record::Instance stated(const std::string& name) {
  const auto catalog = cloud::load_catalog();
  const auto& row = cloud::find_instance(catalog, name, cloud::RegionPolicy::cheapest_on_demand);
  return {.cloud = row.cloud, .type = row.name, .region = cloud::parse_instance_name(name).region, .detected_by = "--as"};
}

}  // namespace

record::Tool describe_tool() {
  return {.version = build::version, .git_commit = build::git_commit, .build_type = build::build_type,
          .compiler = build::compiler};
}

record::Environment describe_machine(const std::string& stated_instance) {
  record::Environment environment;
  add_system(environment);
  add_cpu(environment);
  add_backends(environment);
  environment.variables = record::allowed_variables(environ);
  environment.instance = stated_instance.empty()
                             ? instance_of_firmware(trimmed(read_text_file("/sys/class/dmi/id/sys_vendor")),
                                                    trimmed(read_text_file("/sys/class/dmi/id/product_name")))
                             : stated(stated_instance);
  environment.instance_null_reason = environment.instance ? "" : "the firmware names no instance type; say it with --as";
  return environment;
}

std::string parse_os_release(std::string_view text) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("PRETTY_NAME=")) continue;
    std::string value = line.substr(12);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return value;
  }
  return "";
}

std::optional<record::Instance> instance_of_firmware(const std::string& vendor, const std::string& product) {
  if (vendor != "Amazon EC2" || product.find('.') == std::string::npos) return std::nullopt;
  return record::Instance{.cloud = "aws", .type = product, .detected_by = "firmware"};
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace gpusizer
