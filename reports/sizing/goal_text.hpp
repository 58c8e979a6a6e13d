// SPDX-License-Identifier: Apache-2.0
// What a person writes for a goal ("24h", "100usd", "c7i.xlarge=0.20") -> numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "reports/sizing/advice.hpp"

namespace gpusizer::sizing {

// All throw Error(usage) that names `flag` and shows how it is written.

// Seconds of "3600s", "90m" or "90min", "24h", "2d", or several of them: "1d12h", "1h30m". A unit is required.
double parse_duration_seconds(std::string_view text, std::string_view flag);

// USD of "100usd", "100 USD", "$100" or "100".
double parse_money_usd(std::string_view text, std::string_view flag);

// A whole number from 1 to 10^15, digits only.
std::int64_t parse_count(std::string_view text, std::string_view flag);

// NAME=USD, with NAME as [CLOUD:]NAME[@REGION] and USD per hour.
PriceOverride parse_price_override(std::string_view text, std::string_view flag);

}  // namespace gpusizer::sizing
