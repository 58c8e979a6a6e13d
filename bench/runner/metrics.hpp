// SPDX-License-Identifier: Apache-2.0
// Adds a single figure, or a doubt, to a record.
#pragma once

#include <optional>
#include <string>

#include "reports/record/record.hpp"

namespace gpusizer {

// One without an interval; `null_reason` where there is no value.
void add_metric(record::Case& record, const std::string& id, std::optional<double> value, const std::string& unit,
                record::Better better, const std::string& null_reason);

void add_flag(record::Case& record, const std::string& id, const std::string& sentence, bool blocks_advice);

}  // namespace gpusizer
