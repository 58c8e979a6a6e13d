// SPDX-License-Identifier: Apache-2.0
// On what a case ran, in the words of the catalogue.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/sizing/advice.hpp"
#include "reports/sizing/advise.hpp"

namespace gpusizer::sizing {

// Either the hardware, or the reason why the case cannot be tied to an instance.
struct HardwareMatch {
  Hardware hardware;
  bool stated = false;
  std::string problem;                // empty when there is a match
  std::vector<std::string> warnings;  // a stated instance that looks different from the machine of the report
};

// The instance type the user states for a report, looked up; its rows differ only in region and price.
// No rows when nothing is stated. Throws Error(usage) when it is unknown (and not in `own_names`), several clouds have
// it, or the report was detected on another type.
struct StatedInstance {
  bool given = false;
  std::string cloud, name;
  std::vector<const cloud::Instance*> rows;  // empty for a name that only the user knows
};
StatedInstance stated_instance(const ReportInput& input, const cloud::Catalog& catalog,
                               std::span<const PriceOverride> own_names);

HardwareMatch match_hardware(const record::Report& report, const record::Case& one, const StatedInstance& stated,
                             const cloud::Catalog& catalog);

}  // namespace gpusizer::sizing
