// SPDX-License-Identifier: Apache-2.0
// The registry, the words of a spec, and the synthetic source.
#include "workloads/data/data_sources.hpp"

#include <set>

#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::caught;
using made::expect_says;
using made::TempFolder;

TEST(DataSources, HaveDistinctNamesAndDescriptions) {
  std::set<std::string_view> names;
  for (const DataSourceEntry& entry : data_sources()) {
    EXPECT_FALSE(entry.description.empty());
    EXPECT_EQ(entry.name.find(':'), std::string_view::npos);
    names.insert(entry.name);
  }
  EXPECT_EQ(names.size(), data_sources().size());
}

// Whatever is added to the table: a missing folder is one sentence with the folder's name, never a crash.
TEST(DataSources, RefuseMissingFolders) {
  for (const DataSourceEntry& entry : data_sources()) {
    const std::string spec = std::string(entry.name) + ":/nowhere/at/all";
    const Fault fault = entry.path == PathUse::none ? Fault::usage : Fault::input;
    const DataOptions options{.kind = entry.kind.value_or(DataKind::images)};
    expect_says(caught([&] { open_data_source(spec, options); }), fault, {"/nowhere/at/all"});
    if (entry.path != PathUse::required) continue;
    expect_says(caught([&] { open_data_source(std::string(entry.name), options); }), Fault::usage, {"needs a f"});
  }
}

// Before any file is looked at: what is of the wrong kind cannot be learned from, whatever is in it.
TEST(DataSources, RefuseAnotherKindThanTheModels) {
  for (const DataSourceEntry& entry : data_sources()) {
    if (!entry.kind) continue;
    const DataKind other = *entry.kind == DataKind::text ? DataKind::series : DataKind::text;
    const std::string spec = std::string(entry.name) + (entry.path == PathUse::required ? ":/nowhere/at/all" : "");
    expect_says(caught([&] { open_data_source(spec, {.kind = other}); }), Fault::usage,
                {"the model learns from " + std::string(to_string(other)), std::string(entry.name),
                 "has " + std::string(to_string(*entry.kind))});
  }
  const TempFolder folder;
  folder.write("train/a/1.jpg", made::plain_jpeg(8, 8, {1, 2, 3}));
  expect_says(caught([&] { open_data_source(folder.text(), {.kind = DataKind::text}); }), Fault::usage,
              {folder.text(), "learns from text", "images has images"});
}

TEST(DataSources, RefuseUnknownSpecs) {
  expect_says(caught([] { open_data_source("cifar"); }), Fault::usage,
              {"`cifar`", "synthetic, fashion-mnist, idx, cifar10, images"});
  expect_says(caught([] { open_data_source(""); }), Fault::usage, {"known are"});
  expect_says(caught([] { open_data_source("/nowhere/at/all"); }), Fault::input, {"/nowhere/at/all", "no such folder or file"});
}

TEST(DataSources, TellFoldersByTheirFiles) {
  const TempFolder folder;
  expect_says(caught([&] { open_data_source(folder.text()); }), Fault::input, {folder.text(), "no data set"});
  folder.write("notes", {1, 2});
  expect_says(caught([&] { open_data_source(folder.text() + "/notes"); }), Fault::input, {"/notes", "the file is no"});
  folder.write("pictures/train/a/1.jpg", made::plain_jpeg(8, 8, {1, 2, 3}));
  EXPECT_EQ(open_data_source(folder.text() + "/pictures")->name(), "images");
  for (int part = 1; part <= 5; ++part) {
    folder.write("cifar/data_batch_" + std::to_string(part) + ".bin", made::Bytes(3073, 1));
  }
  EXPECT_EQ(open_data_source(folder.text() + "/cifar")->name(), "cifar10");
  folder.write("digits/train-images-idx3-ubyte.gz", made::gzip(made::idx({1, 1, 1}, {7})));
  folder.write("digits/train-labels-idx1-ubyte", made::idx({1}, {3}));
  const auto digits = open_data_source(folder.text() + "/digits");
  EXPECT_EQ(digits->name(), "idx");
  EXPECT_EQ(digits->facts().location, folder.text() + "/digits");
  EXPECT_NE(digits->facts().preparation.find("1x1x1"), std::string::npos);
}

std::unique_ptr<ImageSource> open_synthetic_pictures(const DataOptions& options = {}) {
  auto source = open_data_source("synthetic", options);
  return std::unique_ptr<ImageSource>(&dynamic_cast<ImageSource&>(*source.release()));
}

std::vector<float> made_image(const ImageSource& source, int64_t index, int32_t& label) {
  std::vector<float> image(static_cast<size_t>(source.shape().values()));
  source.read(index, {}, image.data(), label);
  return image;
}

TEST(Synthetic, IsOfAnyShapeAndRepeatable) {
  const DataOptions options{.wanted = {5, 7, 11}, .classes = 3, .seed = 9, .synthetic_samples = 100};
  const auto source = open_synthetic_pictures(options), again = open_synthetic_pictures(options);
  EXPECT_EQ(source->size(), 100);
  EXPECT_EQ(source->shape(), (ImageShape{5, 7, 11}));
  EXPECT_EQ(source->classes(), 3);
  std::set<int32_t> labels;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 100; ++i) {
    int32_t label = -1, same = -1;
    const std::vector<float> image = made_image(*source, i, label);
    EXPECT_EQ(image, made_image(*again, i, same));
    EXPECT_EQ(label, same);
    labels.insert(label);
    for (const float value : image) {
      sum += value;
      squares += value * value;
    }
  }
  EXPECT_EQ(labels, (std::set<int32_t>{0, 1, 2}));
  EXPECT_NEAR(sum / 38500, 0, 0.2);
  EXPECT_NEAR(squares / 38500, 1, 0.1);
  DataOptions other = options;
  other.seed = 10;
  int32_t label = -1;
  EXPECT_NE(made_image(*source, 0, label), made_image(*open_synthetic_pictures(other), 0, label));
}

// Images of a class are nearer to each other than to those of another class, also across the splits; but no copies.
TEST(Synthetic, CanBeLearned) {
  DataOptions options{.wanted = {1, 16, 16}, .classes = 2, .synthetic_samples = 10};
  const auto train = open_synthetic_pictures(options);
  options.split = Split::test;
  const auto test = open_synthetic_pictures(options);
  const auto distance = [&](int64_t a, int64_t b) {
    int32_t label = -1;
    const std::vector<float> x = made_image(*train, a, label), y = made_image(*test, b, label);
    double total = 0;
    for (size_t i = 0; i < x.size(); ++i) total += (x[i] - y[i]) * (x[i] - y[i]);
    return total;
  };
  EXPECT_GT(distance(0, 0), 0);
  EXPECT_LT(distance(0, 2), distance(0, 1));
  EXPECT_LT(distance(1, 3), distance(1, 2));
}

TEST(Synthetic, HasTheSizeOfImageNetUnlessAskedOtherwise) {
  const auto source = open_synthetic_pictures();
  EXPECT_EQ(source->size(), 1281167);
  EXPECT_EQ(source->shape(), (ImageShape{3, 224, 224}));
  EXPECT_EQ(source->classes(), 1000);
  int32_t label = -1;
  made_image(*source, 1281166, label);
  EXPECT_GE(label, 0);
  EXPECT_LT(label, 1000);
  expect_says(caught([&] { made_image(*source, 1281167, label); }), Fault::failed, {"1281167"});
  expect_says(caught([&] { made_image(*source, -1, label); }), Fault::failed, {"-1"});
}

TEST(Synthetic, RefusesShapesThatCannotBe) {
  for (const ImageShape wanted : {ImageShape{-1, 2, 2}, {3, 1 << 30, 1 << 30}, {1, 1, INT64_MAX}}) {
    expect_says(caught([&] { open_synthetic_pictures({.wanted = wanted}); }), Fault::usage, {wanted.text()});
  }
  expect_says(caught([&] { open_synthetic_pictures({.classes = -1}); }), Fault::usage, {"-1 classes"});
  expect_says(caught([&] { open_synthetic_pictures({.synthetic_samples = -1}); }), Fault::usage,
              {"-1 synthetic samples"});
}

}  // namespace
}  // namespace gpusizer
