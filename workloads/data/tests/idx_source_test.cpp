// SPDX-License-Identifier: Apache-2.0
// IDX files: what is handed out, and the refusal of everything that does not fit together.
#include "workloads/data/idx_source.hpp"

#include "workloads/data/idx_files.hpp"
#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::Bytes;
using made::caught;
using made::expect_says;
using made::idx;
using made::TempFolder;

// Three training images of 2x2 pixels with the labels 0, 1, 2, and one test image.
void write_small_idx(const TempFolder& folder, bool packed = false) {
  const auto write = [&](const std::string& name, const Bytes& bytes) {
    folder.write(packed ? name + ".gz" : name, packed ? made::gzip(bytes) : bytes);
  };
  write("train-images-idx3-ubyte", idx({3, 2, 2}, {0, 255, 0, 255, 0, 0, 0, 0, 255, 255, 255, 255}));
  write("train-labels-idx1-ubyte", idx({3}, {0, 1, 2}));
  write("t10k-images-idx3-ubyte", idx({1, 2, 2}, {255, 0, 0, 0}));
  write("t10k-labels-idx1-ubyte", idx({1}, {2}));
}

std::vector<float> idx_image(const ImageSource& source, int64_t index, int32_t& label, SampleContext context = {}) {
  std::vector<float> image(static_cast<size_t>(source.shape().values()));
  source.read(index, context, image.data(), label);
  return image;
}

TEST(IdxSource, ReadsBothSplitsPlainAndPacked) {
  for (const bool packed : {false, true}) {
    const TempFolder folder;
    write_small_idx(folder, packed);
    const auto train = open_idx(folder.text(), {});
    EXPECT_EQ(train->size(), 3);
    EXPECT_EQ(train->classes(), 3);
    EXPECT_EQ(train->shape(), (ImageShape{1, 2, 2}));
    int32_t label = -1;
    // Half of the training pixels are white: mean 1/2, deviation 1/2, so black is -1 and white 1.
    EXPECT_EQ(idx_image(*train, 0, label), (std::vector<float>{-1, 1, -1, 1}));
    EXPECT_EQ(label, 0);
    const auto test = open_idx(folder.text(), {.split = Split::test});
    EXPECT_EQ(test->size(), 1);
    EXPECT_EQ(test->classes(), 3);  // of the training labels
    EXPECT_EQ(idx_image(*test, 0, label), (std::vector<float>{1, -1, -1, -1}));
    EXPECT_EQ(label, 2);
  }
}

TEST(IdxSource, PadsWithBlackAndRepeatsTheChannel) {
  const TempFolder folder;
  write_small_idx(folder);
  const auto source = open_idx(folder.text(), {.wanted = {3, 4, 5}});
  EXPECT_EQ(source->shape(), (ImageShape{3, 4, 5}));
  int32_t label = -1;
  const std::vector<float> image = idx_image(*source, 0, label);
  const std::vector<float> plane{-1, -1, -1, -1, -1, -1, -1, 1, -1, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1, -1};
  for (int channel = 0; channel < 3; ++channel) {
    EXPECT_EQ(std::vector<float>(image.begin() + channel * 20, image.begin() + channel * 20 + 20), plane);
  }
}

TEST(IdxSource, ShiftsTrainingImagesByUpToTwoPixels) {
  const TempFolder folder;
  write_small_idx(folder);
  folder.write("train-images-idx3-ubyte", idx({3, 1, 1}, {255, 0, 0}));
  const auto source = open_idx(folder.text(), {.wanted = {1, 9, 9}});
  std::vector<int> seen(81, 0);
  int32_t label = -1;
  const float white = idx_image(*source, 0, label)[4 * 9 + 4];
  for (int64_t epoch = 0; epoch < 1000; ++epoch) {
    const SampleContext context{3, epoch, true};
    const std::vector<float> image = idx_image(*source, 0, label, context);
    EXPECT_EQ(image, idx_image(*source, 0, label, context));
    for (size_t i = 0; i < 81; ++i) seen[i] += image[i] == white ? 1 : 0;
  }
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 9; ++x) {
      const bool reachable = std::abs(y - 4) <= 2 && std::abs(x - 4) <= 2;
      EXPECT_NEAR(seen[static_cast<size_t>(y * 9 + x)], reachable ? 40 : 0, reachable ? 32 : 0);
    }
  }
}

TEST(IdxSource, RefusesShapesAndClassesThatDoNotFit) {
  const TempFolder folder;
  write_small_idx(folder);
  for (const ImageShape wanted : {ImageShape{2, 2, 2}, {1, 1, 2}, {1, 2, 1}, {1, 5000, 2}, {-1, 2, 2}}) {
    expect_says(caught([&] { open_idx(folder.text(), {.wanted = wanted}); }), Fault::usage, {"1x2x2", wanted.text()});
  }
  expect_says(caught([&] { open_idx(folder.text(), {.classes = 2}); }), Fault::usage, {"3 classes", "only 2"});
  EXPECT_EQ(open_idx(folder.text(), {.classes = 1000})->classes(), 3);
}

TEST(IdxSource, RefusesImagesAndLabelsThatDisagree) {
  const TempFolder folder;
  write_small_idx(folder);
  folder.write("train-labels-idx1-ubyte", idx({2}, {0, 1}));
  expect_says(caught([&] { open_idx(folder.text(), {}); }), Fault::input,
              {"train-images-idx3-ubyte, byte 4", "3 images", "train-labels-idx1-ubyte has 2 labels"});
  folder.write("train-labels-idx1-ubyte", idx({3}, {0, 1, 1}));  // now the test label 2 is one too many
  expect_says(caught([&] { open_idx(folder.text(), {.split = Split::test}); }), Fault::input,
              {"t10k-labels-idx1-ubyte, byte 8", "label 2 is outside the 2 classes"});
}

TEST(IdxSource, RefusesMissingFiles) {
  const TempFolder folder;
  write_small_idx(folder);
  std::filesystem::remove(folder.path() / "train-images-idx3-ubyte");
  expect_says(caught([&] { open_idx(folder.text(), {}); }), Fault::input,
              {folder.text(), "neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz"});
  expect_says(caught([&] { open_idx(folder.text() + "/none", {}); }), Fault::input, {"/none"});
  std::filesystem::create_directory(folder.path() / "train-images-idx3-ubyte");
  expect_says(caught([&] { open_idx(folder.text(), {}); }), Fault::input,
              {"train-images-idx3-ubyte", "a folder is where"});
}

TEST(IdxFiles, RefuseHeadersThatCannotBe) {
  const TempFolder folder;
  const auto images = [&](const Bytes& bytes) {
    return caught([&] { read_idx_images(folder.write("images", bytes)); });
  };
  expect_says(images({}), Fault::input, {"images, byte 0", "magic"});
  expect_says(images({0, 0}), Fault::input, {"images, byte 2"});
  expect_says(images({'P', 'K', 3, 4, 5, 6}), Fault::input, {"images, byte 0", "504b0304", "00000803"});
  expect_says(images(idx({4}, {1, 2, 3, 4})), Fault::input, {"images, byte 0", "00000801", "images with 00000803"});
  expect_says(images({0, 0, 13, 3, 0, 0, 0, 1}), Fault::input, {"images, byte 0", "00000d03"});  // floats
  expect_says(images({0, 0, 8, 3, 0, 0, 0}), Fault::input, {"images, byte 7", "header"});
  expect_says(images(idx({0, 2, 2}, {})), Fault::input, {"images, byte 4", "count of 0"});
  expect_says(images(idx({1, 2, 0}, {})), Fault::input, {"images, byte 12", "width of 0"});
  expect_says(images(idx({1, 5000, 2}, {})), Fault::input, {"images, byte 8", "5000x2"});
  expect_says(images(idx({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7})), Fault::input,
              {"images, byte 4", "more than the file can hold"});
  expect_says(images(idx({1, 2, 2}, {1, 2, 3, 4, 5})), Fault::input, {"images, byte 20", "goes on"});
  expect_says(caught([&] {
                read_idx_labels(folder.write("labels", idx({3}, {1, 2})));
              }),
              Fault::input, {"labels, byte 4"});
}

// Four numbers that promise 16 exabytes, plain and packed, are refused without taking the memory.
TEST(IdxFiles, RefuseBombs) {
  const TempFolder folder;
  const Bytes bomb = idx({0xffffffff, 4096, 4096}, {1, 2, 3, 4});
  for (const Bytes& stored : {bomb, made::gzip(bomb)}) {
    expect_says(caught([&] { read_idx_images(folder.write("bomb", stored)); }), Fault::input,
                {"bomb", "byte 4", "4294967295"});
  }
  // Within deflate's best ratio, but not there.
  const Bytes promise = made::gzip(idx({10, 28, 28}, Bytes(7839, 0)));
  expect_says(caught([&] { read_idx_images(folder.write("promise", promise)); }), Fault::input,
              {"promise, unpacked byte 7855", "7839 bytes of 7840"});
}

TEST(FashionMnist, IsReadFromAnyFolder) {
  const TempFolder folder;
  write_small_idx(folder);
  const auto source = open_fashion_mnist(folder.text(), {.wanted = {0, 32, 32}});
  EXPECT_EQ(source->name(), "fashion-mnist");
  EXPECT_EQ(source->classes(), 10);
  EXPECT_EQ(source->class_names().size(), 10U);
  EXPECT_EQ(source->shape(), (ImageShape{1, 32, 32}));
  folder.write("train-labels-idx1-ubyte", idx({3}, {0, 10, 2}));
  expect_says(caught([&] { open_fashion_mnist(folder.text(), {}); }), Fault::input,
              {"train-labels-idx1-ubyte, byte 9", "label 10 is outside the 10 classes"});
}

// The real one, where it is installed: sizes, labels, and the mean and deviation written in the source.
TEST(FashionMnist, HasTheFiguresThatWeState) {
  const std::string installed = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::is_directory(installed)) {
    expect_says(caught([] { open_fashion_mnist("", {}); }), Fault::environment, {"dataset-fashion-mnist", installed});
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
  const auto train = open_fashion_mnist("", {}), test = open_fashion_mnist("", {.split = Split::test});
  EXPECT_EQ(train->size(), 60000);
  EXPECT_EQ(test->size(), 10000);
  EXPECT_EQ(train->shape(), (ImageShape{1, 28, 28}));
  double sum = 0, squares = 0;
  std::vector<int> labels(10, 0);
  for (int64_t i = 0; i < train->size(); ++i) {
    int32_t label = -1;
    for (const float value : idx_image(*train, i, label)) {
      sum += value;
      squares += value * value;
    }
    ++labels.at(static_cast<size_t>(label));
  }
  const double count = 60000.0 * 28 * 28;
  EXPECT_NEAR(sum / count, 0, 1e-3);
  EXPECT_NEAR(squares / count, 1, 1e-3);
  EXPECT_EQ(labels, std::vector<int>(10, 6000));
}

}  // namespace
}  // namespace gpusizer
