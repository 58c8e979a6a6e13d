// SPDX-License-Identifier: Apache-2.0
// Folders of photographs: classes, order, preparation, and refusals.
#include "workloads/data/image_folder_source.hpp"

#include <algorithm>

#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::Bytes;
using made::caught;
using made::expect_says;
using made::TempFolder;

void write_small_folder(const TempFolder& folder) {
  folder.write("train/cat/2.jpg", made::plain_jpeg(40, 30, {0, 0, 0}));
  folder.write("train/cat/1.JPEG", made::plain_jpeg(30, 40, {255, 255, 255}));
  folder.write("train/bird/x.jpeg", made::plain_jpeg(16, 16, {255, 0, 0}));
  folder.write("train/bird/.hidden.jpg", {1});
  folder.write("train/bird/notes.txt", {1});
  folder.write("train/readme.txt", {1});
  folder.write("val/cat/a.jpg", made::plain_jpeg(20, 20, {0, 255, 0}));
}

struct Sample {
  std::vector<float> image;
  int32_t label = -1;
};

Sample read_sample(const ImageSource& source, int64_t index, SampleContext context = {}) {
  Sample sample{std::vector<float>(static_cast<size_t>(source.shape().values()))};
  source.read(index, context, sample.image.data(), sample.label);
  return sample;
}

TEST(ImageFolder, ListsClassesAndImagesInOrder) {
  const TempFolder folder;
  write_small_folder(folder);
  const auto train = open_image_folder(folder.text(), {.wanted = {3, 8, 8}});
  EXPECT_EQ(train->size(), 3);
  EXPECT_EQ(train->class_names(), (std::vector<std::string>{"bird", "cat"}));
  EXPECT_EQ(read_sample(*train, 0).label, 0);
  EXPECT_EQ(read_sample(*train, 2).label, 1);
  const Sample white = read_sample(*train, 1);  // cat/1.JPEG comes before cat/2.jpg
  EXPECT_NEAR(white.image[0], (1 - 0.485) / 0.229, 0.02);
  EXPECT_NEAR(white.image[64], (1 - 0.456) / 0.224, 0.02);
  EXPECT_NEAR(white.image[191], (1 - 0.406) / 0.225, 0.02);
  EXPECT_NEAR(read_sample(*train, 2).image[0], -0.485 / 0.229, 0.02);
}

TEST(ImageFolder, GivesTheTestSplitItsTrainingLabels) {
  const TempFolder folder;
  write_small_folder(folder);
  const auto test = open_image_folder(folder.text(), {.split = Split::test});
  EXPECT_EQ(test->size(), 1);
  EXPECT_EQ(test->classes(), 2);
  EXPECT_EQ(test->shape(), (ImageShape{3, 224, 224}));
  EXPECT_EQ(read_sample(*test, 0).label, 1);
  std::filesystem::rename(folder.path() / "val", folder.path() / "test");
  EXPECT_EQ(open_image_folder(folder.text(), {.split = Split::test})->size(), 1);
}

// A ramp from left to right: crops of an epoch are repeatable, differ between epochs, and are mirrored half of the
// time.
TEST(ImageFolder, CropsAndMirrorsBySeedAndEpoch) {
  const TempFolder folder;
  Bytes pixels;
  for (int i = 0; i < 64 * 64; ++i) pixels.push_back(static_cast<uint8_t>(4 * (i % 64)));
  folder.write("train/ramp/a.jpg", made::encode_jpeg({64, 64, 1, JCS_GRAYSCALE}, pixels));
  const auto source = open_image_folder(folder.text(), {.wanted = {1, 8, 8}});
  int mirrored = 0;
  for (int64_t epoch = 0; epoch < 200; ++epoch) {
    const Sample sample = read_sample(*source, 0, {5, epoch, true});
    EXPECT_EQ(sample.image, read_sample(*source, 0, {5, epoch, true}).image);
    mirrored += sample.image[0] > sample.image[7] ? 1 : 0;
  }
  EXPECT_NEAR(mirrored, 100, 40);
  EXPECT_NE(read_sample(*source, 0, {5, 0, true}).image, read_sample(*source, 0, {5, 1, true}).image);
  EXPECT_NE(read_sample(*source, 0, {5, 0, true}).image, read_sample(*source, 0, {6, 0, true}).image);
  const Sample middle = read_sample(*source, 0);
  EXPECT_EQ(middle.image, read_sample(*source, 0, {9, 9, false}).image);
  // The middle 7/8 of 64 columns: output column x has its centre at 4 + 7 (x + 1/2) - 1/2, its value is four times
  // that.
  for (size_t x = 0; x < 8; ++x) {
    const double value = 4 * (3.5 + 7 * (static_cast<double>(x) + 0.5));
    EXPECT_NEAR(middle.image[x], (value / 255 - 0.449) / 0.226, 0.06);
  }
}

TEST(ImageFolder, RefusesFoldersThatAreNotOne) {
  const TempFolder folder;
  expect_says(caught([&] { open_image_folder(folder.text() + "/none", {}); }), Fault::input,
              {"/none", "no such folder"});
  expect_says(caught([&] { open_image_folder(folder.text(), {}); }), Fault::input, {folder.text(), "no folder train"});
  expect_says(caught([&] { open_image_folder(folder.write("file", {1}).string(), {}); }), Fault::input,
              {"a file is where a folder"});
  std::filesystem::create_directories(folder.path() / "train");
  expect_says(caught([&] { open_image_folder(folder.text(), {}); }), Fault::input, {"/train", "no class folders"});
  std::filesystem::create_directories(folder.path() / "train" / "empty");
  expect_says(caught([&] { open_image_folder(folder.text(), {}); }), Fault::input, {"/train/empty", "holds no .jpg"});
  folder.write("train/empty/a.jpg", {1});
  expect_says(caught([&] { open_image_folder(folder.text(), {.split = Split::test}); }), Fault::input,
              {"neither a folder val"});
}

TEST(ImageFolder, RefusesUnknownClassesAndOtherFormats) {
  const TempFolder folder;
  write_small_folder(folder);
  folder.write("val/dog/a.jpg", {1});
  expect_says(caught([&] { open_image_folder(folder.text(), {.split = Split::test}); }), Fault::input,
              {"/val/dog", "counterpart"});
  folder.write("train/cat/3.PNG", {1});
  expect_says(caught([&] { open_image_folder(folder.text(), {}); }), Fault::input, {"/train/cat/3.PNG", "not a JPEG"});
}

TEST(ImageFolder, RefusesShapesAndClassesThatDoNotFit) {
  const TempFolder folder;
  write_small_folder(folder);
  expect_says(caught([&] { open_image_folder(folder.text(), {.wanted = {4, 8, 8}}); }), Fault::usage, {"4x8x8"});
  expect_says(caught([&] { open_image_folder(folder.text(), {.wanted = {3, 9000, 8}}); }), Fault::usage, {"3x9000x8"});
  expect_says(caught([&] { open_image_folder(folder.text(), {.classes = 1}); }), Fault::usage, {"2 classes"});
}

TEST(ImageFolder, NamesTheFileThatCannotBeRead) {
  const TempFolder folder;
  write_small_folder(folder);
  const auto source = open_image_folder(folder.text(), {.wanted = {3, 8, 8}});
  folder.write("train/cat/2.jpg", {'n', 'o'});
  expect_says(caught([&] { read_sample(*source, 2); }), Fault::input, {folder.text() + "/train/cat/2.jpg", "not a JPEG"});
  std::filesystem::remove(folder.path() / "train/cat/1.JPEG");
  expect_says(caught([&] { read_sample(*source, 1); }), Fault::input, {"/train/cat/1.JPEG", "no such file"});
  std::filesystem::remove(folder.path() / "train/bird/x.jpeg");
  std::filesystem::create_directory(folder.path() / "train/bird/x.jpeg");
  expect_says(caught([&] { read_sample(*source, 0); }), Fault::input, {"/train/bird/x.jpeg", "a folder is where a file"});
}

}  // namespace
}  // namespace gpusizer
