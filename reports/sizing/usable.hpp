// SPDX-License-Identifier: Apache-2.0
// May a case be recommended from? The rules, one reason each.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace gpusizer::sizing {

// Why the figure of this case must not be used; empty when it may. Ended ok, no blocking validity flag, measured (not
// predicted, emulated or published), a throughput above 0 that counts samples.
std::string why_not_usable(const record::Report& report, const record::Case& of_report);

}  // namespace gpusizer::sizing
