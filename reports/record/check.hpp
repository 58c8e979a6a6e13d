// SPDX-License-Identifier: Apache-2.0
// The rules that a report keeps beyond its shape: numbers that agree with each other and reasons for missing ones.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace gpusizer::record {

struct Problem {
  std::string pointer;  // JSON pointer of the place, "/cases/0/throughput/value"
  std::string what;     // one sentence: "low is above the value"
};

// Every broken rule, in the order of the report; empty for a good one. Writing and reading both refuse a report with
// a problem, so what was written can always be read. The rules:
//   ids are there and unique; times are RFC 3339 in UTC; counts are not negative; shares are within 0 to 1;
//   low <= value <= high, and null_reason where one is missing; a case that is not ok has a reason;
//   warm-up and measured steps together are the recorded steps; step times are above 0;
//   a measured throughput is samples / measured_seconds of its case (divided by the devices for per_device).
std::vector<Problem> check_report(const Report& report);

}  // namespace gpusizer::record
