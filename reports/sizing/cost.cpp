// SPDX-License-Identifier: Apache-2.0
// Seconds, dollars and verdicts over intervals.
#include "reports/sizing/cost.hpp"

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"

namespace gpusizer::sizing {
namespace {

bool usable(double value) { return std::isfinite(value) && value > 0; }

// A bound that overflows is not known.
std::optional<double> bound(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

// The same monotonically rising function on value and bounds.
template <class Function>
Interval mapped(const Interval& interval, Function function) {
  Interval result{function(interval.value), std::nullopt, std::nullopt};
  if (interval.low) result.low = bound(function(*interval.low));
  if (interval.high) result.high = bound(function(*interval.high));
  return result;
}

}  // namespace

Interval seconds_for(double samples, const Interval& rate) {
  if (!usable(samples)) throw Error(Fault::input, "the number of samples must be above 0");
  if (!usable(rate.value)) throw Error(Fault::input, "a throughput must be above 0 samples per second");
  Interval seconds{samples / rate.value, std::nullopt, std::nullopt};
  if (rate.high && usable(*rate.high)) seconds.low = bound(samples / *rate.high);
  if (rate.low && usable(*rate.low)) seconds.high = bound(samples / *rate.low);
  return seconds;
}

double usd_for(double seconds, double usd_per_hour) {
  if (!usable(usd_per_hour)) throw Error(Fault::input, "a price must be above 0 USD per hour");
  return seconds * usd_per_hour / 3600.0;
}

Interval usd_for(const Interval& seconds, double usd_per_hour) {
  return mapped(seconds, [&](double value) { return usd_for(value, usd_per_hour); });
}

double billed_seconds(double seconds, double minimum_seconds, double granularity_seconds) {
  return std::max(minimum_seconds, std::ceil(seconds / granularity_seconds) * granularity_seconds);
}

Interval billed_seconds(const Interval& seconds, double minimum_seconds, double granularity_seconds) {
  return mapped(seconds, [&](double value) { return billed_seconds(value, minimum_seconds, granularity_seconds); });
}

Interval scaled(const Interval& interval, double factor) {
  return mapped(interval, [&](double value) { return value * factor; });
}

Verdict within(const Interval& interval, double limit) {
  if (interval.high && *interval.high <= limit) return Verdict::yes;
  if (interval.low && *interval.low > limit) return Verdict::no;
  return Verdict::uncertain;
}

}  // namespace gpusizer::sizing
