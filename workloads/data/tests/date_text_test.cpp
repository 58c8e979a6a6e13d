// SPDX-License-Identifier: Apache-2.0
// Dates in all the ways they are written, and the step that a column of them has.
#include "workloads/data/date_text.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "workloads/data/time_step.hpp"

namespace gpusizer {
namespace {

TEST(DateText, ReadsEveryWayOfWriting) {
  const int64_t day = 946684800 * second_us;  // 2000-01-01, by `date -u -d 2000-01-01 +%s`
  struct Case {
    const char* text;
    int64_t date_us;
  };
  const Case cases[] = {
      {"2000-01-01", day},
      {"2000/1/1", day},
      {"1.1.2000", day},
      {"Jan 1 2000", day},
      {"january 1, 2000", day},
      {"1 JAN 2000", day},
      {"01-Jan-2000", day},
      {"2000-01", day},
      {"2000/01/01 05:07", day + 5 * hour_us + 7 * minute_us},
      {"2000-01-01T23:59:58", day + 24 * hour_us - 2 * second_us},
      {"2000-01-01 23:59:58.25", day + 24 * hour_us - 2 * second_us + 250'000},
      {"2000-01-01T00:00:00Z", day},
      {"2000-01-01T02:00+02:00", day},
      {"1999-12-31 19:30:00-0430", day},
      {"1970-01-01", 0},
      {"1969-12-31 23:00", -hour_us},
      {"2000-02-29", day + 59 * day_us},
  };
  for (const Case& one : cases) EXPECT_EQ(parse_date(one.text), one.date_us) << one.text;
}

TEST(DateText, RefusesWhatIsNoDateOrMeansTwo) {
  for (const char* text : {"", "39.4", "2000", "20000101", "1/2/2000", "2000-13-01", "2001-02-29", "2000-01-01 24:00",
                           "2000-01-01 1", "2000-01-01 10:60", "2000-01-01x", "2000-01-01Z", "Janu 1 2000", "Jan 1",
                           "2000-00-01", "00-01-01", "2000-01-01 10:00 +25:00", "2000-01-01 10:00:00."})
    EXPECT_FALSE(parse_date(text)) << text;
}

TEST(DateText, WritesDatesAndDurations) {
  EXPECT_EQ(date_text(0), "1970-01-01");
  EXPECT_EQ(date_text(-hour_us), "1969-12-31 23:00");
  EXPECT_EQ(date_text(day_us + 62 * second_us), "1970-01-02 00:01:02");
  EXPECT_EQ(duration_text(2 * hour_us), "2 hours");
  EXPECT_EQ(duration_text(90 * second_us), "90 seconds");
  EXPECT_EQ(duration_text(7 * day_us), "1 week");
}

std::vector<int64_t> dates_from(const std::vector<const char*>& texts) {
  std::vector<int64_t> dates_us;
  for (const char* text : texts) dates_us.push_back(*parse_date(text));
  return dates_us;
}

std::vector<int64_t> dates_every(int64_t step_us, int64_t count) {
  std::vector<int64_t> dates_us;
  for (int64_t i = 0; i < count; ++i) dates_us.push_back(i * step_us);
  return dates_us;
}

TEST(TimeStep, KnowsRegularStepsAndTheirSeasons) {
  struct Case {
    int64_t step_us;
    const char* name;
    int64_t season;
  };
  for (const auto& [step_us, name, season] :
       {Case{hour_us, "1 hour", 24}, Case{15 * minute_us, "15 minutes", 96}, Case{day_us, "1 day", 7},
        Case{7 * day_us, "1 week", 52}, Case{5 * hour_us, "5 hours", 0}, Case{2 * day_us, "2 days", 0}}) {
    const TimeStep found = find_time_step(dates_every(step_us, 20));
    EXPECT_EQ(found.name, name);
    EXPECT_EQ(found.season, season) << name;
    EXPECT_EQ(found.gaps + found.shorter, 0) << name;
  }
}

TEST(TimeStep, KnowsMonthsQuartersYearsAndBusinessDays) {
  const TimeStep months =
      find_time_step(dates_from({"2000-01-31", "2000-02-29", "2000-03-31", "2000-04-30", "2000-07-31"}));
  EXPECT_EQ(months.name, "1 month");
  EXPECT_EQ(months.season, 12);
  EXPECT_EQ(months.gaps, 1);
  EXPECT_EQ(find_time_step(dates_from({"2000-01", "2000-04", "2000-07"})).season, 4);
  const TimeStep years = find_time_step(dates_from({"2000-01-01", "2001-01-01", "2002-01-01"}));
  EXPECT_EQ(years.name, "1 year");
  EXPECT_EQ(years.season, 0);
  // From a Wednesday to the Thursday of the next week, the second Monday being a holiday.
  const TimeStep business = find_time_step(dates_from({"2024-01-03", "2024-01-04", "2024-01-05", "2024-01-09",
                                                       "2024-01-10", "2024-01-11", "2024-01-12", "2024-01-15"}));
  EXPECT_EQ(business.name, "1 business day");
  EXPECT_EQ(business.season, 5);
  EXPECT_EQ(business.gaps, 1);
  EXPECT_EQ(business.text(), "steps of 1 business day, 1 gap (of 4 days)");
}

TEST(TimeStep, CountsGapsAndAdmitsDisorder) {
  std::vector<int64_t> dates_us = dates_every(hour_us, 20);
  for (size_t i = 10; i < 20; ++i) dates_us[i] += hour_us;
  const TimeStep found = find_time_step(dates_us);
  EXPECT_EQ(found.text(), "steps of 1 hour, 1 gap (of 2 hours)");
  const TimeStep none = find_time_step(std::vector<int64_t>{0, hour_us, 3 * hour_us, 6 * hour_us, 10 * hour_us});
  EXPECT_EQ(none.text(), "irregular steps");
  EXPECT_EQ(none.season, 0);
  EXPECT_EQ(find_time_step(std::vector<int64_t>{5}).season, 0);
}

}  // namespace
}  // namespace gpusizer
