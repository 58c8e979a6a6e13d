// SPDX-License-Identifier: Apache-2.0
// Lines of logs, one after the other.
#include "reports/import/log_lines.hpp"

#include <cmath>
#include <cstdlib>
#include <optional>

namespace gpusizer::import {

std::size_t for_each_logged(std::string_view text, std::string_view marker, const std::function<void(const nlohmann::json&)>& use) {
  constexpr std::size_t longest_line = 1u << 20u;
  std::size_t passed_over = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    const auto at = line.find(marker);
    if (at == std::string_view::npos) continue;
    const std::string_view body = line.substr(at + marker.size());
    const nlohmann::json object = body.size() > longest_line ? nlohmann::json() : nlohmann::json::parse(body, nullptr, false);
    if (object.is_object()) use(object);
    else ++passed_over;
  }
  return passed_over;
}

std::optional<double> logged_number(const nlohmann::json& value) {
  if (value.is_number()) {
    const double number = value.get<double>();
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  }
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return end != text.c_str() && std::isfinite(number) ? std::optional(number) : std::nullopt;
  }
  if (value.is_array() && value.size() == 1 && !value[0].is_structured()) return logged_number(value[0]);
  if (value.is_object())
    if (const auto found = value.find("throughput"); found != value.end() && !found->is_structured()) return logged_number(*found);
  return std::nullopt;
}

}  // namespace gpusizer::import
