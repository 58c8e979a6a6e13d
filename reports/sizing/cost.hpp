// SPDX-License-Identifier: Apache-2.0
// The arithmetic of time and money: from samples per second to seconds and dollars.
#pragma once

#include "reports/sizing/advice.hpp"

namespace gpusizer::sizing {

// samples / rate. The low time is that of the high rate; a rate bound that is not above 0 bounds nothing.
// Throws Error(input) when samples or the rate are not finite and above 0.
Interval seconds_for(double samples, const Interval& samples_per_second);

// seconds * usd_per_hour / 3600. Throws Error(input) when the price is not finite and above 0.
double usd_for(double seconds, double usd_per_hour);
Interval usd_for(const Interval& seconds, double usd_per_hour);

// max(minimum, ceil(seconds / granularity) * granularity): what a cloud bills for one start of an instance.
double billed_seconds(double seconds, double minimum_seconds, double granularity_seconds);
Interval billed_seconds(const Interval& seconds, double minimum_seconds, double granularity_seconds);

Interval scaled(const Interval& interval, double factor);  // factor above 0

// Is `interval` at or below `limit`? Uncertain when the limit lies inside it or a bound that decides is missing.
Verdict within(const Interval& interval, double limit);

}  // namespace gpusizer::sizing
