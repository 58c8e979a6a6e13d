// SPDX-License-Identifier: Apache-2.0
// CSV: quotes, separators and line ends as they come, and the line of everything that is wrong.
#include "workloads/data/csv_file.hpp"

#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::caught;
using made::expect_says;
using made::TempFolder;

std::filesystem::path write_csv(const TempFolder& folder, const std::string& text) {
  return folder.write("a.csv", made::Bytes(text.begin(), text.end()));
}

struct CsvRead {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<int64_t> lines;
};

CsvRead read_csv(const std::string& text) {
  const TempFolder folder;
  CsvFile file(write_csv(folder, text));
  CsvRead all{.header = file.header()};
  CsvRow row;
  while (file.next(row)) {
    all.rows.emplace_back(row.cells.begin(), row.cells.end());
    all.lines.push_back(row.line);
  }
  return all;
}

void expect_csv_refused(const std::string& text, const std::vector<std::string>& parts) {
  expect_says(caught([&] { read_csv(text); }), Fault::input, parts);
}

using Rows = std::vector<std::vector<std::string>>;

TEST(CsvFile, ReadsQuotesSeparatorsAndLinesWithinCells) {
  const CsvRead read = read_csv("a,\"b \"\"x\"\"\",c\n1,\"two, three\",\n\"line\nbreak\",,\"\"\n4,5,6");
  EXPECT_EQ(read.header, (std::vector<std::string>{"a", "b \"x\"", "c"}));
  EXPECT_EQ(read.rows, (Rows{{"1", "two, three", ""}, {"line\nbreak", "", ""}, {"4", "5", "6"}}));
  EXPECT_EQ(read.lines, (std::vector<int64_t>{2, 3, 5}));
}

TEST(CsvFile, FindsTheSeparatorInTheHeader) {
  EXPECT_EQ(read_csv("a;b;\"c,d,e,f\"\n1;2,5;3\n").rows, (Rows{{"1", "2,5", "3"}}));
  EXPECT_EQ(read_csv("a\tb\n1,2\t\n").rows, (Rows{{"1,2", ""}}));
  EXPECT_EQ(read_csv("only\n1\n\n2\n").rows, (Rows{{"1"}, {"2"}}));
}

TEST(CsvFile, TakesEveryLineEndAndAByteOrderMark) {
  for (const char* text : {"\xef\xbb\xbf x , y\n1,2\n3,4\n", "x,y\r\n1,2\r\n3,4", "\n\nx,y\r1,2\r\r3,4\r"}) {
    const CsvRead read = read_csv(text);
    EXPECT_EQ(read.header, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(read.rows, (Rows{{"1", "2"}, {"3", "4"}}));
  }
}

TEST(CsvFile, SaysWhereTheFileIsWrong) {
  expect_csv_refused("", {"empty", "a.csv"});
  expect_csv_refused("a,b\n1,2\n3\n", {"1 cells", "2 columns", "a.csv, line 3"});
  expect_csv_refused("a,b\n1,2,3\n", {"3 cells", "line 2"});
  expect_csv_refused("a,b\n1,\"2\n3,4\n", {"never closed", "line 2"});
  expect_csv_refused("a,b\n1,\"2\"x\n", {"closing quote", "line 2"});
  expect_csv_refused(std::string("a,b\n1,\0\n", 8), {"NUL", "byte 6"});
  expect_csv_refused(
      "\xff\xfe"
      "a",
      {"UTF-16"});
  expect_csv_refused(
      "\x1f\x8b"
      "a",
      {"packed", "gunzip"});
  expect_csv_refused("a,b\n1,2\n" + std::string(2 << 20, 'x'), {"longer than", "line 3"});
  expect_csv_refused("a,b\n\"" + std::string(2 << 20, '\n'), {"longer than", "line 2"});
}

TEST(CsvFile, FindsColumnsByName) {
  const TempFolder folder;
  const CsvFile file(write_csv(folder, "date,temp,wind,wind\n"));
  EXPECT_EQ(file.column("temp"), 1U);
  expect_says(caught([&] { file.column("rain"); }), Fault::usage, {"`rain`", "date, temp, wind"});
  expect_says(caught([&] { file.column("wind"); }), Fault::usage, {"more than one", "wind"});
  EXPECT_NE(file.where(7, 1).find("a.csv, line 7, column temp"), std::string::npos);
}

TEST(CsvFile, RefusesWhatIsNoFile) {
  const TempFolder folder;
  expect_says(caught([&] { CsvFile(folder.path() / "none.csv"); }), Fault::input, {"no such file", "none.csv"});
  expect_says(caught([&] { CsvFile(folder.path()); }), Fault::input, {"folder"});
}

}  // namespace
}  // namespace gpusizer
