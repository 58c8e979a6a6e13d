// SPDX-License-Identifier: Apache-2.0
// Finds the text files, and the documents in them.
#include "workloads/data/text_corpus.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/data/data_file.hpp"
#include "workloads/data/utf8.hpp"

namespace gpusizer {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view replacement = "\xef\xbf\xbd", blanks = " \t\r\f\v";
constexpr int64_t share_of_no_text = 10;  // more than one byte in ten: this is another kind of file

std::string_view trim(std::string_view line) {
  const size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(blanks) + 1 - begin);
}

// Calls use(line) for each trimmed line, blank ones too.
template <typename Use>
void for_each_line(std::string_view text, Use&& use) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    use(trim(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

// A blank line between two that are not.
bool has_paragraphs(std::string_view text) {
  bool seen_text = false, blank_after_text = false, found = false;
  for_each_line(text, [&](std::string_view line) {
    if (line.empty())
      blank_after_text = seen_text;
    else
      found = found || blank_after_text, seen_text = true;
  });
  return found;
}

// Valid UTF-8; `replaced` counts the bytes that were not.
std::string repair(std::string_view text, int64_t& replaced) {
  std::string repaired;
  for (size_t at = 0; at < text.size();) {
    const size_t valid = std::min(find_invalid_utf8(text.substr(at)), text.size() - at);
    repaired += text.substr(at, valid);
    at += valid;
    if (at == text.size()) break;
    repaired += replacement;
    ++replaced;
    ++at;
  }
  return repaired;
}

std::vector<fs::path> text_files(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".txt" && !entry->is_directory()) files.push_back(entry->path());
  }
  if (error) throw Error(Fault::input, "the folder cannot be read: " + error.message(), path.string());
  if (files.empty()) {
    throw Error(Fault::input, "the folder holds no text: no file in it ends in .txt", path.string(),
                "give a folder of .txt files or one text file");
  }
  std::sort(files.begin(), files.end());
  return files;
}

void check_memory(const std::vector<fs::path>& files, const fs::path& path) {
  int64_t bytes = 0;
  for (const fs::path& file : files) bytes += DataFile(file).size_bytes();
  const int64_t most = most_memory_bytes() / 4;  // its tokens come on top: four bytes for about as many letters
  if (bytes <= most) return;
  throw Error(Fault::failed,
              fmt::format("out of memory: the texts have {:.1f} GiB, of which {:.1f} fit",
                          static_cast<double>(bytes) / (1 << 30), static_cast<double>(most) / (1 << 30)),
              path.string(), "give a part of them");
}

}  // namespace

void TextCorpus::add_text(std::string_view text, const std::string& where) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  int64_t no_text = std::count(text.begin(), text.end(), '\0');
  const std::string repaired = repair(text, no_text);
  if (no_text > static_cast<int64_t>(text.size()) / share_of_no_text) {
    throw Error(Fault::input, fmt::format("this is not a text: {} of {} bytes are not UTF-8", no_text, text.size()),
                where, "unpack it, or convert it to UTF-8");
  }
  const bool paragraphs = has_paragraphs(repaired);
  const auto end_document = [this] {
    if (document_begins_.back() < lines()) document_begins_.push_back(lines());
  };
  for_each_line(repaired, [&](std::string_view line) {
    if (!line.empty()) {
      text_ += line;
      line_begins_.push_back(bytes());
    }
    if (line.empty() || !paragraphs) end_document();
  });
  end_document();
  ++files_;
}

TextCorpus read_text_corpus(const std::filesystem::path& path) {
  const std::vector<fs::path> files = text_files(path);
  check_memory(files, path);
  TextCorpus corpus;
  for (const fs::path& file : files) {
    const std::vector<uint8_t> bytes = read_whole_file(file, most_memory_bytes());
    corpus.add_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
  }
  if (corpus.lines() == 0) {
    throw Error(Fault::input, files.size() == 1 ? "the file holds no text" : "the files hold no text", path.string());
  }
  return corpus;
}

}  // namespace gpusizer
