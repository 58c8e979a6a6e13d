// SPDX-License-Identifier: Apache-2.0
// Tables of labelled texts: columns, classes, cutting, splits and errors with their line.
#include "workloads/data/labelled_text_source.hpp"

#include <algorithm>

#include "workloads/data/labelled_rows.hpp"
#include "workloads/data/tests/made_text.hpp"

namespace gpusizer {
namespace {

using made::caught;
using made::expect_says;

class LabelledText : public ::testing::Test {
 protected:
  LabelledText() {
    options_.kind = DataKind::text;
    options_.text.sequence = 8;
    options_.text.vocabulary_file =
        folder_.write("vocab.txt", made::bytes_of("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n")).string();
  }

  std::string file(const std::string& name, const std::string& text) {
    return folder_.write(name, made::bytes_of(text)).string();
  }

  made::TempFolder folder_;
  DataOptions options_;
};

TEST_F(LabelledText, FolderOfTwoTables) {
  file("train.tsv", "id\tlabel\ttext\n1\tgood\ta b\r\n2\tbad\tC\n\n3\tgood\ta a a a a a a a b\n");
  file("dev.tsv", "text\tlabel\nd x\tgood\n");
  const auto train = open_labelled_text(folder_.text(), options_);
  EXPECT_EQ(train->size(), 3);
  EXPECT_EQ(train->facts().classes, 2);
  EXPECT_EQ(train->facts().class_names, (std::vector<std::string>{"bad", "good"}));
  EXPECT_EQ(train->facts().predictions, 0);
  EXPECT_EQ(made::read_text(*train, 0), (made::Values{{2, 5, 6, 3, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}, {4}, {1}}));
  EXPECT_EQ(made::read_text(*train, 1)[3], std::vector<int32_t>{0});
  EXPECT_EQ(made::read_text(*train, 2)[0], (std::vector<int32_t>{2, 5, 5, 5, 5, 5, 5, 3}));  // cut
  options_.split = Split::test;
  const auto test = open_labelled_text(folder_.text(), options_);
  EXPECT_EQ(test->size(), 1);
  EXPECT_EQ(made::read_text(*test, 0)[0], (std::vector<int32_t>{2, 8, 1, 3, 0, 0, 0, 0}));
}

TEST_F(LabelledText, PairsLoseTheLongerOnesEnd) {
  file("train.tsv", "text_a\ttext_b\tlabel\na a a a a a\tb c\t10\na\tb\t9\n");
  file("test.tsv", "text_a\ttext_b\tlabel\na\tb\t9\n");
  const auto source = open_labelled_text(folder_.text(), options_);
  EXPECT_EQ(source->facts().class_names, (std::vector<std::string>{"9", "10"}));  // by value
  EXPECT_EQ(made::read_text(*source, 0), (made::Values{{2, 5, 5, 5, 3, 6, 7, 3}, {0, 0, 0, 0, 0, 1, 1, 1}, {8}, {1}}));
}

TEST_F(LabelledText, OneTableIsSplitAndBucketed) {
  std::string table = "text\tlabel\n";
  for (int row = 0; row < 200; ++row) table += row % 2 == 0 ? "a\t0\n" : "a b c d a b c d\t1\n";
  const std::string path = file("table.tsv", table);
  options_.text.sequence = 0;
  options_.text.buckets = {8, 16};
  const auto train = open_labelled_text(path, options_);
  options_.split = Split::test;
  const auto test = open_labelled_text(path, options_);
  EXPECT_EQ(train->size(), 190);
  EXPECT_EQ(test->size(), 10);
  for (int64_t index = 0; index < train->size(); ++index) {
    const made::Values sample = made::read_text(*train, index);
    EXPECT_EQ(train->bucket_of(index), sample[3][0]);
    EXPECT_EQ(sample[2][0], sample[3][0] == 0 ? 3 : 10);
  }
}

TEST_F(LabelledText, MakesItsVocabulary) {
  options_.text.vocabulary_file.clear();
  options_.text.vocabulary = 40;
  const std::string path = file("table.tsv", "text\tlabel\none two\tx\ntwo one\ty\none one\tx\n");
  const auto source = open_labelled_text(path, options_);
  EXPECT_GT(source->facts().vocabulary, 10);
  EXPECT_LE(source->facts().vocabulary, 40);
}

TEST_F(LabelledText, ErrorsNameTheLine) {
  const auto problem = [&](const std::string& table) {
    const std::string path = file("table.tsv", table);
    return caught([&] { open_labelled_text(path, options_); });
  };
  expect_says(problem(""), Fault::input, {"table.tsv", "no rows"});
  expect_says(problem("text\tlabel\n"), Fault::input, {"no rows"});
  expect_says(problem("a\tb\nc\td\n"), Fault::input, {"line 1", "columns"});
  expect_says(problem("text\tlabel\na\t0\nb\n"), Fault::input, {"line 3", "1 of 2 columns"});
  expect_says(problem("text\tlabel\na\t\n"), Fault::input, {"line 2", "no label"});
  expect_says(problem("text\tlabel\na\t0\n"), Fault::input, {"one row"});
  expect_says(problem("text\tlabel\n\t0\n \t0\n  \t0\n"), Fault::input, {"no text"});
  options_.classes = 1;
  expect_says(problem("text\tlabel\na\t0\na\t1\na\t2\na\t0\na\t1\na\t2\n"), Fault::usage, {"table.tsv"});
  options_.text.head = "pretraining";
  expect_says(problem("text\tlabel\na\t0\n"), Fault::usage, {"classification"});
}

TEST_F(LabelledText, LabelsUnknownInTrainingAreRefused) {
  file("train.tsv", "text\tlabel\na\t0\nb\t1\n");
  file("dev.tsv", "text\tlabel\na\t0\nb\t7\n");
  options_.split = Split::test;
  expect_says(caught([&] { open_labelled_text(folder_.text(), options_); }), Fault::input, {"dev.tsv, line 3", "`7`"});
}

}  // namespace
}  // namespace gpusizer
