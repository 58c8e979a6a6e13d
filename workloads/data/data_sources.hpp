// SPDX-License-Identifier: Apache-2.0
// The registry of data sources, and opening one by its name, folder or file.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

enum class PathUse { none, optional, required };

struct DataSourceEntry {
  std::string_view name;
  std::string_view description;  // one line for `gpusizer list`
  std::optional<DataKind> kind;  // nothing: of every kind
  PathUse path;
  std::unique_ptr<SampleSource> (*open)(const std::string& path, const DataOptions& options);
  bool (*recognises)(const std::filesystem::path& path);  // null: a folder or file alone never means this source
};

// To add a source: write its file with an open function, and add its line to the table in data_sources.cpp.
std::span<const DataSourceEntry> data_sources();

// `spec` is "name", "name:path" or the path of a folder or file that tells by itself what it is.
// Throws Error: usage for an unknown name, a kind or a shape that does not fit, input for files, environment for a data
// set that is not installed.
std::unique_ptr<SampleSource> open_data_source(const std::string& spec, const DataOptions& options = {});

}  // namespace gpusizer
