// SPDX-License-Identifier: Apache-2.0
// The choice of columns and rows, what happens to missing values, and what is refused with its line.
#include "workloads/data/series_table.hpp"

#include "workloads/data/number_cell.hpp"
#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::caught;
using made::expect_says;
using made::TempFolder;
using Names = std::vector<std::string>;
using Values = std::vector<double>;

SeriesTable table_of(const std::string& text, const SeriesColumns& wanted = {}) {
  const TempFolder folder;
  return read_series_table(folder.write("a.csv", made::Bytes(text.begin(), text.end())), wanted);
}

void expect_table_refused(const std::string& text, const SeriesColumns& wanted, Fault fault, const Names& parts) {
  expect_says(caught([&] { table_of(text, wanted); }), fault, parts);
}

TEST(NumberCell, TellsNumbersFromMissingAndOther) {
  EXPECT_EQ(parse_number(" 12 "), 12);
  EXPECT_EQ(parse_number("+1.5e3"), 1500);
  EXPECT_EQ(parse_number("-.5"), -0.5);
  for (const char* text : {"", "x", "1x", "1,5", "inf", "nan", "1e999", "1e101", "+", "+-1", "0x10"})
    EXPECT_FALSE(parse_number(text)) << text;
  for (const char* text : {"", "  ", "NA", "n/a", "NaN", "NULL", "none", "?"}) EXPECT_TRUE(is_missing(text)) << text;
  EXPECT_FALSE(is_missing("0"));
}

constexpr const char* weather =
    "id,day,rain,kind,wind\n"
    "a,2012/01/01,0.5,sun,3\n"
    "b,2012/01/02,1.5,rain,4\n"
    "c,2012/01/03,2.5,sun,5\n";

TEST(SeriesTable, TakesTheDatesAndAllNumbersByItself) {
  const SeriesTable table = table_of(weather);
  EXPECT_EQ(table.columns, (Names{"rain", "wind"}));
  EXPECT_EQ(table.features, 2);
  EXPECT_EQ(table.left_out, (Names{"id", "kind"}));
  EXPECT_EQ(table.targets, std::vector<int64_t>{0});
  EXPECT_EQ(table.values, (Values{0.5, 3, 1.5, 4, 2.5, 5}));
  EXPECT_EQ(table.step.name, "1 day");
  EXPECT_EQ(table.filled + table.dropped, 0);
}

TEST(SeriesTable, TakesTheColumnsAskedFor) {
  const SeriesTable one = table_of(weather, {.date = "day", .features = {"wind"}, .targets = {"rain", "wind"}});
  EXPECT_EQ(one.columns, (Names{"wind", "rain"}));
  EXPECT_EQ(one.features, 1);
  EXPECT_EQ(one.targets, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(one.values, (Values{3, 0.5, 4, 1.5, 5, 2.5}));
  EXPECT_EQ(table_of(weather, {.targets = {"wind"}}).targets, std::vector<int64_t>{1});
  expect_table_refused(weather, {.features = {"fog"}}, Fault::usage, {"`fog`", "id, day, rain"});
  expect_table_refused(weather, {.features = {"kind"}}, Fault::input, {"`sun`", "line 2, column kind"});
  expect_table_refused(weather, {.targets = {"day"}}, Fault::usage, {"date column", "`day`"});
  expect_table_refused(weather, {.date = "rain"}, Fault::input, {"`0.5`", "no date", "line 2, column rain"});
}

TEST(SeriesTable, ChoosesRowsOfALongTable) {
  const std::string stocks =
      "symbol,date,price\nMSFT,Jan 1 2000,39.81\nMSFT,Feb 1 2000,36.35\nAAPL,Jan 1 2000,25.94\nAAPL,Feb 1 2000,28.66\n"
      "AAPL,Mar 1 2000,33.95\n";
  const SeriesTable apple = table_of(stocks, {.rows = "symbol=AAPL"});
  EXPECT_EQ(apple.values, (Values{25.94, 28.66, 33.95}));
  EXPECT_EQ(apple.step.name, "1 month");
  expect_table_refused(stocks, {}, Fault::input,
                       {"do not ascend", "2000-01-01 follows 2000-02-01", "line 4, column date", "COLUMN=VALUE"});
  expect_table_refused(stocks, {.rows = "symbol=IBM"}, Fault::usage, {"symbol=IBM", "AAPL, MSFT"});
  expect_table_refused(stocks, {.rows = "IBM"}, Fault::usage, {"COLUMN=VALUE"});
  expect_table_refused(stocks, {.rows = "name=IBM"}, Fault::usage, {"`name`"});
}

TEST(SeriesTable, FillsWithTheValueBeforeAndDropsTheStart) {
  const SeriesTable table =
      table_of("date,x,y,nothing\n2020-01-01,,1,\n2020-01-02,5,NA,\n2020-01-03,,3,\n2020-01-04,7,,\n2020-01-05,8,9,\n");
  EXPECT_EQ(table.columns, (Names{"x", "y"}));
  EXPECT_EQ(table.dropped, 1);  // before x has a value
  EXPECT_EQ(table.filled, 3);   // the first of them, y's, with the value of the dropped row
  EXPECT_EQ(table.values, (Values{5, 1, 5, 3, 7, 3, 8, 9}));
  EXPECT_EQ(table.steps(), 4);
}

TEST(SeriesTable, SaysWhichCellIsWrong) {
  const Fault input = Fault::input;
  expect_table_refused("date,x\n2020-01-01,1\n2020-01-02,oops\n", {}, input, {"`oops`", "a.csv, line 3, column x"});
  expect_table_refused("date,x\n2020-01-01,1\nsoon,2\n", {}, input, {"`soon`", "line 3, column date"});
  expect_table_refused("date,x\n2020-01-01,1\n2020-01-01,2\n", {}, input, {"do not ascend", "line 3"});
  expect_table_refused("date,x\n2020-01-01,1\n2020-01-02,inf\n", {}, input, {"`inf`", "line 3"});
  expect_table_refused("date,x\n1,2\n", {}, input, {"no column begins with a date", "line 2"});
  expect_table_refused("date,x\n2020-01-01,a\n", {}, input, {"no column holds numbers"});
  expect_table_refused("date;x\n2020-01-01;1,5\n", {}, input, {"no column holds numbers", "with a point"});
  expect_table_refused("date,x\n2020-01-01,\n", {.features = {"x"}}, input, {"`x` has no value"});
  expect_table_refused("date,x\n", {}, input, {"no rows"});
  expect_table_refused("2020-01-01,1\n2020-01-02,2\n", {}, input, {"names of the columns", "line 1"});
}

}  // namespace
}  // namespace gpusizer
