// SPDX-License-Identifier: Apache-2.0
// Reports taken apart into figures: one reading is one metric of one case of one run.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/record/record.hpp"

namespace gpusizer::ci {

struct Reading {
  const record::Case* run = nullptr;  // of a report that outlives the reading
  record::Metric metric;
};

// The runs of one case on one side. Records that are equal in everything count once.
struct CaseRuns {
  std::vector<const record::Case*> runs;
  std::map<std::string, std::vector<Reading>> metrics;  // by id
};

struct Side {
  std::map<std::string, CaseRuns> cases;  // by id
  std::size_t copies = 0;                 // equal records that were left out
};

// The metrics of a case; where it lists no "throughput" the one of its own field stands in.
std::vector<record::Metric> metrics_of(const record::Case& run);

Side side_of(const std::vector<record::Report>& reports);

// Values with which the case was known to be usable: it ended ok (or by its own choice) and the metric has a value.
bool is_usable(const Reading& reading);

// Rates and times cannot be 0 or less; shares and counts can.
bool must_be_positive(const std::string& unit);

// What differs: for each name the words that one side has and the other has not. Variables that may hold secrets are
// left out whatever the report says.
using Words = std::map<std::string, std::set<std::string>>;
void add_words(Words& words, const record::StringMap& map);

}  // namespace gpusizer::ci
