// SPDX-License-Identifier: Apache-2.0
// The table of data sources. One line for each; the folder tests are tried in this order.
#include "workloads/data/data_sources.hpp"

#include <fmt/format.h>

#include <array>

#include "gpusizer/error.hpp"
#include "workloads/data/cifar_source.hpp"
#include "workloads/data/idx_source.hpp"
#include "workloads/data/image_folder_source.hpp"
#include "workloads/data/synthetic_source.hpp"

namespace gpusizer {

namespace {

constexpr std::array<DataSourceEntry, 5> table{{
    {"synthetic", "made-up images of any shape, for timing", PathUse::none, open_synthetic, nullptr},
    {"fashion-mnist", "70,000 pictures of clothes, 1x28x28 (Debian: dataset-fashion-mnist)", PathUse::optional,
     open_fashion_mnist, nullptr},
    {"idx", "idx:FOLDER with the four files of MNIST's format, plain or .gz", PathUse::required, open_idx,
     looks_like_idx},
    {"cifar10", "cifar10:FOLDER with the .bin files of CIFAR-10, 3x32x32", PathUse::required, open_cifar10,
     looks_like_cifar10},
    {"images", "images:FOLDER of JPEGs: train/CLASS/*.jpg and val/CLASS/*.jpg", PathUse::required, open_image_folder,
     looks_like_image_folder},
}};

const DataSourceEntry* find_entry(std::string_view name) {
  for (const DataSourceEntry& entry : table) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::string known_names() {
  std::string text;
  for (const DataSourceEntry& entry : table) text += fmt::format("{}{}", text.empty() ? "" : ", ", entry.name);
  return text;
}

std::unique_ptr<ImageSource> open_named(const DataSourceEntry& entry, const std::string& path,
                                        const DataOptions& options) {
  if (entry.path == PathUse::none && !path.empty()) {
    throw Error(Fault::usage, fmt::format("the data source {} takes no folder", entry.name),
                fmt::format("{}:{}", entry.name, path));
  }
  if (entry.path == PathUse::required && path.empty()) {
    throw Error(Fault::usage, fmt::format("the data source {} needs a folder", entry.name), std::string(entry.name),
                fmt::format("write {}:FOLDER", entry.name));
  }
  return entry.open(path, options);
}

std::unique_ptr<ImageSource> open_folder(const std::string& folder, const DataOptions& options) {
  for (const DataSourceEntry& entry : table) {
    if (entry.recognises != nullptr && entry.recognises(folder)) return entry.open(folder, options);
  }
  throw Error(Fault::input, "the folder holds no data set that is known here", folder,
              "expected IDX files, CIFAR-10 .bin files, or train/CLASS/*.jpg");
}

}  // namespace

std::span<const DataSourceEntry> data_sources() { return table; }

std::unique_ptr<ImageSource> open_data_source(const std::string& spec, const DataOptions& options) {
  const size_t colon = spec.find(':');
  const std::string name = spec.substr(0, colon);
  if (const DataSourceEntry* entry = find_entry(name)) {
    return open_named(*entry, colon == std::string::npos ? "" : spec.substr(colon + 1), options);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(spec, ignored)) return open_folder(spec, options);
  if (spec.find('/') != std::string::npos && colon == std::string::npos) {
    throw Error(Fault::input, "there is no such folder", spec);
  }
  throw Error(Fault::usage, fmt::format("there is no data source `{}`", name), spec,
              fmt::format("known are {}, or the path of a folder", known_names()));
}

}  // namespace gpusizer
