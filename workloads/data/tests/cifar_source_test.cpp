// SPDX-License-Identifier: Apache-2.0
// CIFAR-10's binary files.
#include "workloads/data/cifar_source.hpp"

#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::Bytes;
using made::caught;
using made::expect_says;
using made::TempFolder;

// A record whose red plane holds 10, green 20 and blue 30, but for the first red pixel, which is 110.
Bytes record(uint8_t label) {
  Bytes bytes{label};
  for (const uint8_t value : {10, 20, 30}) bytes.insert(bytes.end(), 1024, value);
  bytes[1] = 110;
  return bytes;
}

void write_small_cifar(const TempFolder& folder, const std::string& under = "") {
  for (uint8_t part = 1; part <= 5; ++part)
    folder.write(under + "data_batch_" + std::to_string(part) + ".bin", record(part));
  folder.write(under + "test_batch.bin", record(9));
}

std::vector<float> cifar_image(const ImageSource& source, int64_t index, SampleContext context = {}) {
  std::vector<float> image(static_cast<size_t>(source.shape().values()));
  int32_t label = -1;
  source.read(index, context, image.data(), label);
  return image;
}

TEST(CifarSource, ReadsPlanesAndLabels) {
  const TempFolder folder;
  write_small_cifar(folder);
  const auto train = open_cifar10(folder.text(), {});
  EXPECT_EQ(train->size(), 5);
  EXPECT_EQ(train->shape(), (ImageShape{3, 32, 32}));
  EXPECT_EQ(train->class_names().size(), 10U);
  std::vector<float> image(3072);
  int32_t label = -1;
  train->read(4, {}, image.data(), label);
  EXPECT_EQ(label, 5);
  EXPECT_NEAR(image[0], (110 / 255.0 - 0.4914) / 0.2470, 1e-6);
  EXPECT_NEAR(image[1], (10 / 255.0 - 0.4914) / 0.2470, 1e-6);
  EXPECT_NEAR(image[1024], (20 / 255.0 - 0.4822) / 0.2435, 1e-6);
  EXPECT_NEAR(image[3071], (30 / 255.0 - 0.4465) / 0.2616, 1e-6);
  EXPECT_EQ(open_cifar10(folder.text(), {.split = Split::test})->size(), 1);
}

TEST(CifarSource, FindsTheFolderOfTheArchive) {
  const TempFolder folder;
  write_small_cifar(folder, "cifar-10-batches-bin/");
  EXPECT_EQ(open_cifar10(folder.text(), {})->size(), 5);
}

// The bright pixel of the top left corner shows where the image went: shifts of 4 at most, mirrored every second time.
TEST(CifarSource, ShiftsAndMirrorsTrainingImages) {
  const TempFolder folder;
  write_small_cifar(folder);
  const auto source = open_cifar10(folder.text(), {.wanted = {3, 48, 48}});
  int left = 0, right = 0;
  for (int64_t epoch = 0; epoch < 400; ++epoch) {
    const std::vector<float> image = cifar_image(*source, 0, {1, epoch, true});
    const int64_t at = std::max_element(image.begin(), image.begin() + 48 * 48) - image.begin();
    const int64_t y = at / 48, x = at % 48;
    EXPECT_LE(std::abs(y - 8), 4);
    if (std::abs(x - 8) <= 4) ++left;
    if (std::abs(x - 39) <= 4) ++right;
  }
  EXPECT_EQ(left + right, 400);
  EXPECT_NEAR(left, 200, 60);
}

// Mirroring and shifting move pixels and invent none: with black all around, the sum over the image stays.
TEST(CifarSource, KeepsAllPixelsWhenThereIsRoom) {
  const TempFolder folder;
  write_small_cifar(folder);
  const auto source = open_cifar10(folder.text(), {.wanted = {3, 40, 40}});
  const auto sum = [](const std::vector<float>& image) {
    double total = 0;
    for (const float value : image) total += value;
    return total;
  };
  const double plain = sum(cifar_image(*source, 0));
  for (int64_t epoch = 0; epoch < 50; ++epoch) EXPECT_NEAR(sum(cifar_image(*source, 0, {1, epoch, true})), plain, 1e-2);
}

TEST(CifarSource, RefusesDamagedFiles) {
  const TempFolder folder;
  write_small_cifar(folder);
  Bytes bytes = record(1);
  bytes.pop_back();
  folder.write("data_batch_3.bin", bytes);
  expect_says(caught([&] { open_cifar10(folder.text(), {}); }), Fault::input,
              {"data_batch_3.bin, byte 0", "3072 bytes", "3073"});
  folder.write("data_batch_3.bin", {});
  expect_says(caught([&] { open_cifar10(folder.text(), {}); }), Fault::input, {"data_batch_3.bin", "0 bytes"});
  bytes = record(1);
  const Bytes second = record(10);
  bytes.insert(bytes.end(), second.begin(), second.end());
  folder.write("data_batch_3.bin", bytes);
  expect_says(caught([&] { open_cifar10(folder.text(), {}); }), Fault::input,
              {"data_batch_3.bin, byte 3073", "label 10"});
  std::filesystem::remove(folder.path() / "data_batch_3.bin");
  expect_says(caught([&] { open_cifar10(folder.text(), {}); }), Fault::input, {"data_batch_3.bin", "no such file"});
}

TEST(CifarSource, RefusesOneChannel) {
  const TempFolder folder;
  write_small_cifar(folder);
  expect_says(caught([&] {
                open_cifar10(folder.text(), {.wanted = {1, 32, 32}});
              }),
              Fault::usage, {"3x32x32", "1x32x32"});
}

}  // namespace
}  // namespace gpusizer
