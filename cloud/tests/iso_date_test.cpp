// SPDX-License-Identifier: Apache-2.0
// Tests of dates in three precisions.
#include "cloud/catalog/iso_date.hpp"

#include <gtest/gtest.h>

namespace gpusizer::cloud {
namespace {

using std::chrono::sys_days;
using namespace std::chrono_literals;

TEST(IsoDate, FirstDayOfEachPrecision) {
  EXPECT_EQ(first_day_of("2026-07-20"), sys_days{2026y / 7 / 20});
  EXPECT_EQ(first_day_of("2025-03"), sys_days{2025y / 3 / 1});
  EXPECT_EQ(first_day_of("2023"), sys_days{2023y / 1 / 1});
  EXPECT_EQ(first_day_of("2024-02-29"), sys_days{2024y / 2 / 29});
}

TEST(IsoDate, RefusesWhatIsNoDate) {
  for (const char* text : {"", "2026-13-01", "2026-02-29", "2026-00-10", "26-01-01", "2026/01/01", "2026-1-1",
                           "2026-07-20 ", "2023 (stale)", "2025-03 or older", "-026", "20260720"})
    EXPECT_FALSE(first_day_of(text)) << text;
}

TEST(IsoDate, AgeCountsWholeDays) {
  EXPECT_EQ(age_days("2026-07-20", sys_days{2026y / 8 / 19}), 30);
  EXPECT_EQ(age_days("2026-07-20", sys_days{2026y / 7 / 19}), -1);
  EXPECT_EQ(age_days("2023", sys_days{2024y / 1 / 1}), 365);
  EXPECT_FALSE(age_days("soon", sys_days{2024y / 1 / 1}));
}

TEST(IsoDate, Writes) { EXPECT_EQ(iso_date(sys_days{2026y / 1 / 5}), "2026-01-05"); }

}  // namespace
}  // namespace gpusizer::cloud
