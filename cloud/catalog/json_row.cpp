// SPDX-License-Identifier: Apache-2.0
// Typed getters over one JSON object.
#include "cloud/catalog/json_row.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "gpusizer/error.hpp"

namespace gpusizer::cloud {

JsonRow::JsonRow(const nlohmann::json& object, std::string file, std::string pointer)
    : object_(&object), file_(std::move(file)), pointer_(std::move(pointer)) {
  if (!object.is_object())
    throw Error(Fault::input, "the catalogue has something else than an object", fmt::format("{} {}", file_, pointer_),
                "write one {...} per row");
}

void JsonRow::refuse(const std::string& what, const char* key) const {
  throw Error(Fault::input, what, fmt::format("{} {}/{}", file_, pointer_, key), "correct this field of the catalogue");
}

const nlohmann::json* JsonRow::field(const char* key) const {
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

std::string JsonRow::text_or_empty(const char* key) const {
  const nlohmann::json* value = field(key);
  if (value == nullptr) return "";
  if (!value->is_string()) refuse(fmt::format("\"{}\" must be a text", key), key);
  return value->get<std::string>();
}

std::string JsonRow::text(const char* key) const {
  std::string value = text_or_empty(key);
  if (value.empty()) refuse(fmt::format("\"{}\" is missing", key), key);
  return value;
}

std::optional<double> JsonRow::positive_or_nothing(const char* key) const {
  const nlohmann::json* value = field(key);
  if (value == nullptr) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : NAN;
  if (!std::isfinite(number) || number <= 0)
    refuse(fmt::format("\"{}\" must be a number above 0 (null when unknown)", key), key);
  return number;
}

double JsonRow::positive(const char* key) const {
  const std::optional<double> value = positive_or_nothing(key);
  if (!value) refuse(fmt::format("\"{}\" is missing", key), key);
  return *value;
}

std::optional<int> JsonRow::count_or_nothing(const char* key) const {
  const std::optional<double> value = positive_or_nothing(key);
  if (!value) return std::nullopt;
  if (*value != std::floor(*value) || *value > 1e6)
    refuse(fmt::format("\"{}\" must be a whole number from 1 to 1000000", key), key);
  return static_cast<int>(*value);
}

std::optional<JsonRow> JsonRow::object_or_nothing(const char* key) const {
  const nlohmann::json* value = field(key);
  if (value == nullptr) return std::nullopt;
  return JsonRow(*value, file_, fmt::format("{}/{}", pointer_, key));
}

const nlohmann::json& JsonRow::list(const char* key) const {
  const nlohmann::json* value = field(key);
  if (value == nullptr || !value->is_array()) refuse(fmt::format("\"{}\" must be a list", key), key);
  return *value;
}

JsonRow JsonRow::element(const char* key, std::size_t index) const {
  return JsonRow(list(key)[index], file_, fmt::format("{}/{}/{}", pointer_, key, index));
}

}  // namespace gpusizer::cloud
