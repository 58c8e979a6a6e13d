// SPDX-License-Identifier: Apache-2.0
// One line of a record each.
#include "bench/runner/metrics.hpp"

namespace gpusizer {

void add_metric(record::Case& record, const std::string& id, std::optional<double> value, const std::string& unit,
                record::Better better, const std::string& null_reason) {
  record.metrics.push_back({.id = id, .value = value, .null_reason = value ? "a single figure, no interval" : null_reason,
                            .unit = unit, .better = better});
}

void add_flag(record::Case& record, const std::string& id, const std::string& sentence, bool blocks_advice) {
  record.validity_flags.push_back({.id = id, .sentence = sentence, .blocks_advice = blocks_advice});
}

}  // namespace gpusizer
