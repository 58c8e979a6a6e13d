// SPDX-License-Identifier: Apache-2.0
// Documents and lines of text files, whatever is in them; and which documents are held out.
#include "workloads/data/text_corpus.hpp"

#include "workloads/data/tests/made_text.hpp"
#include "workloads/data/text_split.hpp"

namespace gpusizer {
namespace {

// "a b|c" + "d": lines joined by |, documents apart.
std::vector<std::string> documents(const TextCorpus& corpus) {
  std::vector<std::string> found;
  for (int64_t document = 0; document < corpus.documents(); ++document) {
    std::string lines;
    for (int64_t line = corpus.first_line(document); line < corpus.first_line(document + 1); ++line) {
      if (!lines.empty()) lines += "|";
      lines += corpus.line(line);
    }
    found.push_back(lines);
  }
  return found;
}

std::vector<std::string> documents(const std::string& text) {
  TextCorpus corpus;
  corpus.add_text(text, "made");
  return documents(corpus);
}

using Documents = std::vector<std::string>;

TEST(TextCorpus, BlankLinesPartDocuments) {
  EXPECT_EQ(documents("one\ntwo\n\n\n  three \t\r\nfour"), (Documents{"one|two", "three|four"}));
  EXPECT_EQ(documents("\n \none\n\ntwo\n\n"), (Documents{"one", "two"}));
}

TEST(TextCorpus, WithoutBlankLinesEachLineIsADocument) {
  EXPECT_EQ(documents("one\r\ntwo\r\n"), (Documents{"one", "two"}));
  EXPECT_EQ(documents("\n\none\ntwo\n\n\n"), (Documents{"one", "two"}));  // blank lines around part nothing
  EXPECT_EQ(documents("\xef\xbb\xbfone"), Documents{"one"});
  EXPECT_EQ(documents(""), Documents{});
}

TEST(TextCorpus, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(documents("na\xefve as it is written in Latin-1"), Documents{"na\uFFFDve as it is written in Latin-1"});
  EXPECT_THROW(documents("\x1f\x8b\x08\x80\x99\xff\xfe\x01"), Error);
  EXPECT_THROW(documents(std::string("a\0b\0c\0d\0", 8)), Error);  // UTF-16
}

TEST(TextCorpus, LongLinesStayWhole) {
  const std::string line(3 << 20, 'x');
  EXPECT_EQ(documents(line + "\n" + line), (Documents{line, line}));
}

TEST(TextCorpus, FoldersAreReadInOrder) {
  const made::TempFolder folder;
  folder.write("b.txt", made::bytes_of("second\n\nthird"));
  folder.write("a.txt", made::bytes_of("first"));
  folder.write("c/d.txt", made::bytes_of(""));
  folder.write("ignored.md", made::bytes_of("no"));
  EXPECT_EQ(documents(read_text_corpus(folder.path())), (Documents{"first", "second", "third"}));
  EXPECT_EQ(read_text_corpus(folder.path()).files(), 3);
  EXPECT_EQ(documents(read_text_corpus(folder.path() / "ignored.md")), Documents{"no"});
}

TEST(TextCorpus, NothingToReadIsAnError) {
  const made::TempFolder folder;
  EXPECT_THROW(read_text_corpus(folder.path()), Error);
  EXPECT_THROW(read_text_corpus(folder.path() / "none.txt"), Error);
  EXPECT_THROW(read_text_corpus(folder.write("empty.txt", made::bytes_of(" \n\n"))), Error);
}

TEST(TextSplit, HoldsOutOneOfTwenty) {
  int64_t held_out = 0;
  for (int64_t document = 0; document < 2000; ++document) held_out += split_of(document, 2000) == Split::test;
  EXPECT_EQ(held_out, 100);
  for (int64_t documents = 2; documents <= 20; ++documents) {
    held_out = 0;
    for (int64_t document = 0; document < documents; ++document) {
      held_out += split_of(document, documents) == Split::test;
    }
    EXPECT_EQ(held_out, 1) << documents;
  }
  EXPECT_THROW(check_can_split(1, "x"), Error);
}

}  // namespace
}  // namespace gpusizer
