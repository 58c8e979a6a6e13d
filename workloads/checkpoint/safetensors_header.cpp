// SPDX-License-Identifier: Apache-2.0
// The header's JSON, written and read strictly.
#include "workloads/checkpoint/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

using nlohmann::json;

constexpr const char* words_key = "__metadata__";
constexpr int deepest = 3;  // file, tensor, shape

struct Placed {
  StoredTensor tensor;
  std::int64_t begin, end;
};

class Parser {
 public:
  Parser(std::int64_t data_bytes, const std::string& file) : data_bytes_(data_bytes), file_(file) {}

  SafetensorsHeader parse(std::string_view text) const {
    const json header = parse_json(text);
    if (!header.is_object()) refuse("its header is not a JSON object");
    SafetensorsHeader result;
    std::vector<Placed> placed;
    for (const auto& [name, value] : header.items()) {
      if (name == words_key)
        result.words = words(value);
      else
        placed.push_back(tensor(name, value));
    }
    check_cover(placed);
    for (Placed& one : placed) result.tensors.push_back(std::move(one.tensor));
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Fault::input, "this is no intact safetensors file: " + what, file_, "use another file");
  }

  // Of two equal keys nlohmann/json keeps the last silently; and depth is memory that a small file should not cost.
  json parse_json(std::string_view text) const {
    if (text.find('\0') != text.npos) refuse("its header has a NUL byte");  // which nlohmann/json takes for the end
    std::vector<std::set<std::string>> seen;
    const auto watch = [&](int depth, json::parse_event_t event, json& value) {
      using Event = json::parse_event_t;
      if ((event == Event::object_start || event == Event::array_start) && depth >= deepest)
        refuse("its header is nested too deep");
      if (event == Event::object_start) seen.emplace_back();
      if (event == Event::object_end) seen.pop_back();
      if (event == Event::key && !seen.back().insert(value.get<std::string>()).second)
        refuse(fmt::format("the name '{}' is given twice", value.get<std::string>()));
      return true;
    };
    try {
      return json::parse(text, watch);
    } catch (const json::parse_error& error) {
      refuse(fmt::format("its header is not JSON at byte {}", error.byte));
    } catch (const json::exception&) {
      refuse("its header cannot be read as JSON");
    }
  }

  FileWords words(const json& value) const {
    if (!value.is_object()) refuse("__metadata__ is not an object");
    FileWords result;
    for (const auto& [name, word] : value.items()) {
      if (!word.is_string()) refuse(fmt::format("__metadata__ has '{}', which is not a string", name));
      result[name] = word.get<std::string>();
    }
    return result;
  }

  std::vector<std::int64_t> numbers(const std::string& name, const json& value, const char* key) const {
    if (!value.contains(key) || !value[key].is_array()) refuse(fmt::format("tensor '{}' has no list '{}'", name, key));
    std::vector<std::int64_t> result;
    for (const json& number : value[key]) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() > INT64_MAX)
        refuse(fmt::format("tensor '{}' has a '{}' that is not made of whole numbers from 0 on", name, key));
      result.push_back(number.get<std::int64_t>());
    }
    return result;
  }

  Placed tensor(const std::string& name, const json& value) const {
    if (!value.is_object()) refuse(fmt::format("'{}' is not described by an object", name));
    if (!value.contains("dtype") || !value["dtype"].is_string()) refuse(fmt::format("tensor '{}' has no dtype", name));
    if (value.size() != 3) refuse(fmt::format("tensor '{}' has other fields than dtype, shape and data_offsets", name));
    const auto type = stored_type(value["dtype"].get<std::string>());
    if (!type) refuse(fmt::format("tensor '{}' has the unknown type '{}'", name, value["dtype"].get<std::string>()));
    const auto offsets = numbers(name, value, "data_offsets");
    if (offsets.size() != 2) refuse(fmt::format("tensor '{}' has {} data_offsets instead of 2", name, offsets.size()));
    Placed placed{{name, *type, numbers(name, value, "shape")}, offsets[0], offsets[1]};
    check_place(placed);
    return placed;
  }

  void check_place(const Placed& one) const {
    const std::string& name = one.tensor.name;
    if (one.end < one.begin || one.end > data_bytes_)
      refuse(fmt::format("tensor '{}' lies at bytes {} to {} of {}", name, one.begin, one.end, data_bytes_));
    const auto bytes = byte_count(one.tensor);
    if (!bytes || *bytes != one.end - one.begin)
      refuse(fmt::format("tensor '{}' has {} bytes, but {} of {} take {}", name, one.end - one.begin,
                         to_string(one.tensor.type), to_string(one.tensor.shape),
                         bytes ? std::to_string(*bytes) : "more than 2^63"));
  }

  void check_cover(std::vector<Placed>& placed) const {
    std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
      return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
    });
    std::int64_t end = 0;
    for (const Placed& one : placed) {
      if (one.begin < end) refuse(fmt::format("tensor '{}' overlaps the one before it", one.tensor.name));
      if (one.begin > end)
        refuse(fmt::format("{} bytes before tensor '{}' belong to none", one.begin - end, one.tensor.name));
      end = one.end;
    }
    if (end < data_bytes_) refuse(fmt::format("its last {} bytes belong to no tensor", data_bytes_ - end));
  }

  const std::int64_t data_bytes_;
  const std::string& file_;
};

void add_tensor(json& header, const StoredTensor& tensor, std::int64_t& offset) {
  const auto bytes = byte_count(tensor);
  if (tensor.name == words_key || header.contains(tensor.name) || !bytes || *bytes > INT64_MAX - offset)
    throw Error(Fault::usage, fmt::format("tensor '{}' of {} cannot be stored", tensor.name, to_string(tensor.shape)),
                "", "give every tensor its own name and a shape that fits");
  header[tensor.name] = {
      {"dtype", to_string(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + *bytes}}};
  offset += *bytes;
}

}  // namespace

std::string header_text(const SafetensorsHeader& header) {
  json document = json::object();
  if (!header.words.empty()) document[words_key] = header.words;
  std::int64_t offset = 0;
  for (const StoredTensor& tensor : header.tensors) add_tensor(document, tensor, offset);
  std::string text;
  try {
    text = document.dump();
  } catch (const json::exception&) {
    throw Error(Fault::usage, "a tensor's name or a word is not UTF-8, so no file can hold it");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > static_cast<std::size_t>(most_header_bytes))
    throw Error(Fault::usage, fmt::format("{} tensors give a header of more than 100 MB", header.tensors.size()));
  return text;
}

SafetensorsHeader parse_header(std::string_view text, std::int64_t data_bytes, const std::string& file) {
  return Parser(data_bytes, file).parse(text);
}

ContentHash begin_checksum(const SafetensorsHeader& header) {
  using namespace std::string_view_literals;
  ContentHash hash;
  const auto add = [&](std::string_view text) {
    hash.add(text);
    hash.add("\0"sv);
  };
  for (const auto& [name, word] : header.words) {
    if (name == checksum_word) continue;
    add(name);
    add(word);
  }
  for (const StoredTensor& tensor : header.tensors) {
    add(tensor.name);
    add(to_string(tensor.type));
    add(to_string(tensor.shape));
  }
  return hash;
}

}  // namespace gpusizer
