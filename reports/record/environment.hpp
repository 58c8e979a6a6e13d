// SPDX-License-Identifier: Apache-2.0
// Where a report was measured, and by which build of the program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/maybe.hpp"
#include "reports/record/metric.hpp"

namespace gpusizer::record {

using StringMap = std::map<std::string, std::string>;

struct Tool {
  std::string name = "gpusizer";
  std::string version;     // "0.1.0"
  std::string git_commit;  // empty: built outside of a repository
  std::string build_type;  // "Release"
  std::string compiler;    // "GNU 12.2.0"
  UnknownFields unknown;

  friend bool operator==(const Tool&, const Tool&) = default;
};

// The rented machine, when it was recognised as one.
struct Instance {
  std::string cloud;   // "aws"
  std::string type;    // "c7i.xlarge"
  std::string region;  // may be empty
  std::string detected_by;
  UnknownFields unknown;

  friend bool operator==(const Instance&, const Instance&) = default;
};

// One device that a backend found (for the CPU backend: the CPU as a whole).
struct Device {
  std::string kind;  // "cpu", "cuda"
  std::string name;
  Maybe<std::int64_t> memory_bytes;
  UnknownFields unknown;

  friend bool operator==(const Device&, const Device&) = default;
};

struct Environment {
  std::string host_name;
  std::string cpu_model;
  std::vector<std::string> cpu_flags;         // only those that decide which kernels run, sorted
  Maybe<std::int64_t> cpu_cores, cpu_threads; // physical cores; threads this process may use
  Maybe<std::int64_t> memory_bytes;           // of the machine, or of the container's limit if smaller
  std::string os;                             // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;
  std::vector<Device> devices;
  StringMap libraries;  // name -> version
  StringMap variables;  // only names that is_allowed_variable() accepts
  std::optional<Instance> instance;
  std::string instance_null_reason = "not looked for";
  UnknownFields unknown;

  friend bool operator==(const Environment&, const Environment&) = default;
};

// The environment variables that may enter a report: those that change speed. Everything else (tokens, names,
// paths) stays out, and so does a value of an allowed one that looks like a secret.
bool is_allowed_variable(const std::string& name, const std::string& value);

// The allowed ones among "NAME=value" strings ending with a null pointer (the process's `environ`).
StringMap allowed_variables(const char* const* environment);

}  // namespace gpusizer::record
