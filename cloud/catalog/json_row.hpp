// SPDX-License-Identifier: Apache-2.0
// One JSON object of a catalogue file, read field by field with errors that say where.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace gpusizer::cloud {

// A view: the JSON it was made from must outlive it. All getters throw Error(input) with file and JSON pointer when the
// field has another type than asked for; the plain ones also when it is missing or null.
class JsonRow {
 public:
  JsonRow(const nlohmann::json& object, std::string file, std::string pointer);

  std::string text(const char* key) const;           // not empty
  std::string text_or_empty(const char* key) const;  // "" when missing or null
  double positive(const char* key) const;            // finite and above 0
  std::optional<double> positive_or_nothing(const char* key) const;
  std::optional<int> count_or_nothing(const char* key) const;  // 1 to 1,000,000
  std::optional<JsonRow> object_or_nothing(const char* key) const;
  const nlohmann::json& list(const char* key) const;
  JsonRow element(const char* key, std::size_t index) const;  // of a list

  [[noreturn]] void refuse(const std::string& what, const char* key) const;
  const nlohmann::json& json() const { return *object_; }

 private:
  const nlohmann::json* field(const char* key) const;  // nullptr when missing or null

  const nlohmann::json* object_;
  std::string file_, pointer_;
};

}  // namespace gpusizer::cloud
