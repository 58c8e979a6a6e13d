// SPDX-License-Identifier: Apache-2.0
// From four IDX files to a source: finds them, holds images and labels against each other.
#include "workloads/data/idx_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/data/idx_files.hpp"
#include "workloads/data/pixel_source.hpp"

namespace gpusizer {

namespace {

namespace fs = std::filesystem;

constexpr const char* debian_folder = "/usr/share/datasets/fashion-mnist";
constexpr int64_t label_header_bytes = 8;

struct Recipe {
  std::string name;
  std::vector<std::string> class_names;  // empty: as many classes as there are training labels
  Augmentation augmentation;
  const Normalisation* normalisation = nullptr;  // null: measured
};

// The plain file, or the .gz beside or instead of it; empty when there is neither.
fs::path find_file(const fs::path& folder, const std::string& stem) {
  std::error_code ignored;
  for (const char* ending : {"", ".gz"}) {
    const fs::path path = folder / (stem + ending);
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

fs::path need_file(const fs::path& folder, const std::string& stem) {
  const fs::path path = find_file(folder, stem);
  if (!path.empty()) return path;
  throw Error(Fault::input, fmt::format("there is neither {0} nor {0}.gz", stem), folder.string(),
              "name a folder with the four standard IDX files");
}

PixelTable join(IdxImages images, IdxLabels labels, int64_t classes) {
  const int64_t count = static_cast<int64_t>(labels.labels.size());
  if (images.count != count) {
    throw Error(Fault::input,
                fmt::format("the file has {} images, but {} has {} labels", images.count, labels.path, count),
                images.path + ", byte 4", "images and labels must come from the same data set");
  }
  for (int64_t i = 0; i < count; ++i) {
    const int label = labels.labels[static_cast<size_t>(i)];
    if (label < classes) continue;
    throw Error(Fault::input, fmt::format("label {} is outside the {} classes", label, classes),
                fmt::format("{}, byte {}", labels.path, label_header_bytes + i));
  }
  return {{1, images.height, images.width}, std::move(images.pixels), std::move(labels.labels)};
}

int64_t count_classes(const Recipe& recipe, const IdxLabels& training) {
  if (!recipe.class_names.empty()) return static_cast<int64_t>(recipe.class_names.size());
  return *std::max_element(training.labels.begin(), training.labels.end()) + 1;
}

PixelTable read_split(const fs::path& folder, const std::string& prefix, int64_t classes) {
  return join(read_idx_images(need_file(folder, prefix + "-images-idx3-ubyte")),
              read_idx_labels(need_file(folder, prefix + "-labels-idx1-ubyte")), classes);
}

std::unique_ptr<ImageSource> open_recipe(const Recipe& recipe, const fs::path& folder, const DataOptions& options) {
  const int64_t classes = count_classes(recipe, read_idx_labels(need_file(folder, "train-labels-idx1-ubyte")));
  PixelTable table = read_split(folder, options.split == Split::train ? "train" : "t10k", classes);
  Normalisation normalisation;
  if (recipe.normalisation != nullptr) {
    normalisation = *recipe.normalisation;
  } else {
    const std::string origin = "measured over the training images";
    normalisation = options.split == Split::train ? measure_normalisation(table, origin)
                                                  : measure_normalisation(read_split(folder, "train", classes), origin);
  }
  SourceFacts facts{
      .name = recipe.name, .location = folder.string(), .classes = classes, .class_names = recipe.class_names};
  return std::make_unique<PixelSource>(std::move(facts), std::move(table), std::move(normalisation),
                                       recipe.augmentation, options);
}

}  // namespace

std::unique_ptr<ImageSource> open_idx(const std::string& folder, const DataOptions& options) {
  return open_recipe({.name = "idx", .class_names = {}, .augmentation = {.most_shift = 2, .flip = false}}, folder,
                     options);
}

std::unique_ptr<ImageSource> open_fashion_mnist(const std::string& folder, const DataOptions& options) {
  std::error_code ignored;
  if (folder.empty() && !fs::is_directory(debian_folder, ignored)) {
    throw Error(Fault::environment, "Fashion-MNIST is not installed", debian_folder,
                "install the Debian package dataset-fashion-mnist, or name a folder: fashion-mnist:/path");
  }
  // Measured by us over the 60,000 training images; a test measures them again.
  const Normalisation normalisation{{0.2860}, {0.3530}, "of its 60,000 training images"};
  const Recipe recipe{
      "fashion-mnist",
      {"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"},
      {.most_shift = 2, .flip = true},
      &normalisation};
  return open_recipe(recipe, folder.empty() ? debian_folder : folder, options);
}

bool looks_like_idx(const fs::path& folder) {
  return !find_file(folder, "train-images-idx3-ubyte").empty() || !find_file(folder, "t10k-images-idx3-ubyte").empty();
}

}  // namespace gpusizer
