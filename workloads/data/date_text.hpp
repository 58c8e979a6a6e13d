// SPDX-License-Identifier: Apache-2.0
// Dates and times as text: reading the usual ways of writing them, and writing them one way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpusizer {

inline constexpr int64_t second_us = 1'000'000, minute_us = 60 * second_us, hour_us = 60 * minute_us,
                         day_us = 24 * hour_us;

// Microseconds since 1970-01-01 00:00, or nothing when this is no date. A time zone ("Z", "+02:00") is taken into
// account; without one the time is taken as it stands. Known ways of writing, each with or without a time:
//   2010-01-31, 2010/01/31, 31.1.2010, Jan 31 2000, Jan 31, 2000, 31 Jan 2000, 2010-01;
//   the time, after a blank or T: 23:59, 23:59:59, 23:59:59.5.
// 1/2/2010 is not known: it means two days.
std::optional<int64_t> parse_date(std::string_view text);

// "2010-01-31", or "2010-01-31 23:59" when it is not midnight, with seconds where there are some.
std::string date_text(int64_t date_us);

// "2 hours", "1 day", "90 seconds": in the largest unit that leaves no rest.
std::string duration_text(int64_t duration_us);

}  // namespace gpusizer
