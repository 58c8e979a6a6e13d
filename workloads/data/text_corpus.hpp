// SPDX-License-Identifier: Apache-2.0
// Plain text files as documents of lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gpusizer {

// Lines and documents lie one behind the other; `begins` has one entry more than there are: the end of the last.
class TextCorpus {
 public:
  int64_t documents() const { return static_cast<int64_t>(document_begins_.size()) - 1; }
  int64_t lines() const { return static_cast<int64_t>(line_begins_.size()) - 1; }
  // The lines of a document: first_line(d) .. first_line(d + 1) - 1; never none.
  int64_t first_line(int64_t document) const { return document_begins_[static_cast<size_t>(document)]; }
  // Without spaces at its ends; never empty; valid UTF-8.
  std::string_view line(int64_t index) const {
    const auto begin = static_cast<size_t>(line_begins_[static_cast<size_t>(index)]);
    const auto end = static_cast<size_t>(line_begins_[static_cast<size_t>(index) + 1]);
    return std::string_view(text_).substr(begin, end - begin);
  }
  int64_t files() const { return files_; }
  int64_t bytes() const { return static_cast<int64_t>(text_.size()); }

  // A document is what stands between blank lines; in a text without blank lines every line is a document.
  // Lines end in LF or CR LF. Bytes that are not UTF-8 become U+FFFD. Throws Error(input) when over a tenth of the
  // bytes is no text.
  void add_text(std::string_view text, const std::string& where);

 private:
  std::string text_;
  std::vector<int64_t> line_begins_{0}, document_begins_{0};
  int64_t files_ = 0;
};

// `path` is a file, or a folder whose .txt files (also those in its folders) are read in the order of their paths.
// Throws Error: input when there is no file or no text in it, failed when it does not fit into this machine's memory.
TextCorpus read_text_corpus(const std::filesystem::path& path);

}  // namespace gpusizer
