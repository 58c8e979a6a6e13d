// SPDX-License-Identifier: Apache-2.0
// Dates as the catalogue writes them: 2026-07-20, or 2025-03 or 2023 where the source is no more exact.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace gpusizer::cloud {

// The first day that `text` (YYYY, YYYY-MM or YYYY-MM-DD) can mean; nothing when it is no such date.
// The first day, because an age must not be made smaller by a vague date.
std::optional<std::chrono::sys_days> first_day_of(std::string_view text);

// Whole days from the first day `text` can mean to `now`; negative when it lies ahead. Nothing when `text` is no date.
std::optional<int> age_days(std::string_view text, std::chrono::sys_days now);

// YYYY-MM-DD.
std::string iso_date(std::chrono::sys_days day);

}  // namespace gpusizer::cloud
