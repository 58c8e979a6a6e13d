// SPDX-License-Identifier: Apache-2.0
// The table of data sources. One line for each; the tests of folders and files are tried in this order.
#include "workloads/data/data_sources.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/data/cifar_source.hpp"
#include "workloads/data/idx_source.hpp"
#include "workloads/data/image_folder_source.hpp"
#include "workloads/data/labelled_text_source.hpp"
#include "workloads/data/series_source.hpp"
#include "workloads/data/synthetic_source.hpp"
#include "workloads/data/text_source.hpp"

namespace gpusizer {

namespace {

// A source of images is a source of samples, but a function that returns the one is not a function that returns the other.
template <auto open>
std::unique_ptr<SampleSource> as_samples(const std::string& path, const DataOptions& options) {
  return open(path, options);
}

constexpr DataKind of_images = DataKind::images;

constexpr DataSourceEntry table[] = {
    {"synthetic", "made-up samples of any shape, for timing", std::nullopt, PathUse::none, open_synthetic, nullptr},
    {"fashion-mnist", "70,000 pictures of clothes, 1x28x28 (Debian: dataset-fashion-mnist)", of_images, PathUse::optional,
     as_samples<open_fashion_mnist>, nullptr},
    {"idx", "idx:FOLDER with the four files of MNIST's format, plain or .gz", of_images, PathUse::required,
     as_samples<open_idx>, looks_like_idx},
    {"cifar10", "cifar10:FOLDER with the .bin files of CIFAR-10, 3x32x32", of_images, PathUse::required,
     as_samples<open_cifar10>, looks_like_cifar10},
    {"images", "images:FOLDER of JPEGs: train/CLASS/*.jpg and val/CLASS/*.jpg", of_images, PathUse::required,
     as_samples<open_image_folder>, looks_like_image_folder},
    {"text", "text:FILE or FOLDER of .txt files, in word pieces of a vocabulary or of one made of it", DataKind::text,
     PathUse::required, open_text, looks_like_text},
    {"tsv", "tsv:FILE with columns text (or text_a, text_b) and label, or FOLDER with train.tsv, dev.tsv",
     DataKind::text, PathUse::required, open_labelled_text, looks_like_labelled_text},
    {"csv", "csv:FILE with a date column and columns of numbers, split by time", DataKind::series, PathUse::required,
     open_csv_series, looks_like_csv},
};

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

// "fashion-mnist or images:PATH": what a person can write to get data of that kind.
std::string names_of(DataKind kind) {
  std::string text;
  for (const DataSourceEntry& entry : table) {
    if (entry.kind.value_or(kind) != kind) continue;
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", entry.name, entry.path == PathUse::required ? ":PATH" : "");
  }
  return text;
}

std::unique_ptr<SampleSource> open_entry(const DataSourceEntry& entry, const std::string& path,
                                         const DataOptions& options) {
  if (entry.kind.value_or(options.kind) != options.kind) {
    throw Error(Fault::usage,
                fmt::format("the model learns from {}, and the data source {} has {}", to_string(options.kind),
                            entry.name, to_string(*entry.kind)),
                path.empty() ? std::string(entry.name) : path, "use one of " + names_of(options.kind));
  }
  return entry.open(path, options);
}

std::unique_ptr<SampleSource> open_named(const DataSourceEntry& entry, const std::string& path,
                                         const DataOptions& options) {
  const char* place = entry.kind == DataKind::images ? "folder" : "file or folder";
  if (entry.path == PathUse::none && !path.empty()) {
    throw Error(Fault::usage, fmt::format("the data source {} takes no {}", entry.name, place),
                fmt::format("{}:{}", entry.name, path));
  }
  if (entry.path == PathUse::required && path.empty()) {
    throw Error(Fault::usage, fmt::format("the data source {} needs a {}", entry.name, place), std::string(entry.name),
                fmt::format("write {}:PATH", entry.name));
  }
  return open_entry(entry, path, options);
}

std::unique_ptr<SampleSource> open_path(const std::string& path, bool is_folder, const DataOptions& options) {
  for (const DataSourceEntry& entry : table) {
    if (entry.recognises != nullptr && entry.recognises(path)) return open_entry(entry, path, options);
  }
  throw Error(Fault::input, fmt::format("the {} no data set that is known here", is_folder ? "folder holds" : "file is"),
              path, "expected one of " + names_of(options.kind));
}

}  // namespace

std::span<const DataSourceEntry> data_sources() { return table; }

std::unique_ptr<SampleSource> open_data_source(const std::string& spec, const DataOptions& options) {
  const size_t colon = spec.find(':');
  const std::string name = spec.substr(0, colon);
  if (const DataSourceEntry* entry = find_entry(name)) {
    return open_named(*entry, colon == std::string::npos ? "" : spec.substr(colon + 1), options);
  }
  std::error_code ignored;
  if (const auto status = std::filesystem::status(spec, ignored); std::filesystem::exists(status)) {
    return open_path(spec, std::filesystem::is_directory(status), options);
  }
  if (spec.find('/') != std::string::npos && colon == std::string::npos) {
    throw Error(Fault::input, "there is no such folder or file", spec);
  }
  throw Error(Fault::usage, fmt::format("there is no data source `{}`", name), spec,
              fmt::format("known are {}, or the path of a folder or file", known_names()));
}

}  // namespace gpusizer
