// SPDX-License-Identifier: Apache-2.0
// What makes two cases comparable, as three lists of words and two stable hashes.
#pragma once

#include "reports/record/record.hpp"

namespace gpusizer::record {

// identity: the workload (model, data, batch, precision, devices, threads, optimizer) and the hardware (device and
// instance type). environment: OS, kernel, libraries, variables, compiler, build type. state: what `state` brings
// (clocks, temperatures, load). Seed, host name, commit, tool version and region are in none of the hashed parts: a
// history of the same case over commits, hosts and seeds must stay one history.
Fingerprint make_fingerprint(const Config& config, const Environment& environment, const Tool& tool,
                             StringMap state = {});

// First 16 hexadecimal digits of the SHA-256 over "name=value\n" of each entry in order, with '\\', '=' and line
// ends in names and values escaped by a backslash.
std::string hash_of(const StringMap& words);

}  // namespace gpusizer::record
