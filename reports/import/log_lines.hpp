// SPDX-License-Identifier: Apache-2.0
// Logs in which each line of interest is a marker and a JSON object.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

namespace gpusizer::import {

// Calls `use` for each line that contains `marker`, with the object behind it; a line whose object cannot be read, or is
// longer than 1 MiB, is passed over and counted. Returns how many were.
std::size_t for_each_logged(std::string_view text, std::string_view marker, const std::function<void(const nlohmann::json&)>& use);

// A number in any of the ways in which logs write it: 5, "5", [5], {"throughput": 5}. Not finite: nothing.
std::optional<double> logged_number(const nlohmann::json& value);

}  // namespace gpusizer::import
