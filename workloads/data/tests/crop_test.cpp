// SPDX-License-Identifier: Apache-2.0
// Which part of a photograph is used, and how it becomes the model's size.
#include "workloads/data/crop.hpp"

#include <gtest/gtest.h>

#include "workloads/data/resample.hpp"

namespace gpusizer {
namespace {

TEST(RandomCrop, StaysInsideAndInProportion) {
  for (int64_t index = 0; index < 2000; ++index) {
    SampleRandom random(1, 0, index);
    const Crop crop = random_crop(500, 375, random);
    EXPECT_GE(crop.left, 0);
    EXPECT_GE(crop.top, 0);
    EXPECT_LE(crop.left + crop.width, 500);
    EXPECT_LE(crop.top + crop.height, 375);
    EXPECT_GT(crop.width * crop.height, 0.075 * 500 * 375);
    EXPECT_NEAR(crop.width / crop.height, 1.04, 0.31);
  }
}

TEST(RandomCrop, DiffersBetweenSamplesAndMirrorsHalf) {
  int mirrored = 0, different = 0;
  for (int64_t index = 0; index < 1000; ++index) {
    SampleRandom random(1, 0, index), next(1, 1, index);
    const Crop crop = random_crop(500, 375, random), other = random_crop(500, 375, next);
    mirrored += crop.mirrored ? 1 : 0;
    different += crop.left != other.left || crop.width != other.width ? 1 : 0;
  }
  EXPECT_NEAR(mirrored, 500, 80);
  EXPECT_GT(different, 950);
}

// A strip has no rectangle of a ratio up to 4/3 with 8 % of its area: the middle is taken.
TEST(RandomCrop, TakesTheMiddleOfAStrip) {
  SampleRandom random(1, 0, 0);
  const Crop crop = random_crop(3000, 30, random);
  EXPECT_DOUBLE_EQ(crop.width, 40);
  EXPECT_DOUBLE_EQ(crop.height, 30);
  EXPECT_DOUBLE_EQ(crop.left, 1480);
}

TEST(RandomCrop, WorksOnOnePixel) {
  SampleRandom random(1, 0, 0);
  const Crop crop = random_crop(1, 1, random);
  EXPECT_DOUBLE_EQ(crop.width, 1);
  EXPECT_DOUBLE_EQ(crop.height, 1);
}

// 500 x 375 resized to a height of 256 and cut to 224: 224/256 of 375 is 328.125 pixels a side.
TEST(CentreCrop, IsTheMiddleOfTheResizedImage) {
  const Crop crop = centre_crop(500, 375, 224, 224);
  EXPECT_DOUBLE_EQ(crop.width, 328.125);
  EXPECT_DOUBLE_EQ(crop.height, 328.125);
  EXPECT_DOUBLE_EQ(crop.left, (500 - 328.125) / 2);
  EXPECT_DOUBLE_EQ(crop.top, (375 - 328.125) / 2);
  EXPECT_FALSE(crop.mirrored);
}

TEST(CentreCrop, KeepsTheRatioOfTheOutput) {
  const Crop crop = centre_crop(1000, 400, 200, 100);
  EXPECT_DOUBLE_EQ(crop.width, 700);
  EXPECT_DOUBLE_EQ(crop.height, 350);
}

constexpr float one[] = {1, 1, 1}, zero[] = {0, 0, 0};

TEST(Resample, CopiesWhenNothingChanges) {
  const PixelRows rows{2, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {0, 0, 2, 2, false}};
  std::vector<float> image(12);
  resample(rows, 2, 2, one, zero, image.data());
  EXPECT_EQ(image, (std::vector<float>{1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12}));
}

TEST(Resample, MirrorsScalesAndShifts) {
  const PixelRows rows{3, 1, 1, {10, 20, 30}, {0, 0, 3, 1, true}};
  std::vector<float> image(3);
  const float two[] = {2}, minus_one[] = {-1};
  resample(rows, 3, 1, two, minus_one, image.data());
  EXPECT_EQ(image, (std::vector<float>{59, 39, 19}));
}

// Four columns to two: an output's centre lies between two pixels. Enlarging repeats the edges.
TEST(Resample, InterpolatesBetweenPixelCentres) {
  const PixelRows rows{4, 1, 1, {0, 10, 20, 40}, {0, 0, 4, 1, false}};
  std::vector<float> half(2), twice(8);
  resample(rows, 2, 1, one, zero, half.data());
  EXPECT_EQ(half, (std::vector<float>{5, 30}));
  resample(rows, 8, 1, one, zero, twice.data());
  EXPECT_EQ(twice, (std::vector<float>{0, 2.5, 7.5, 12.5, 17.5, 25, 35, 40}));
}

TEST(Resample, TakesTheCropOnly) {
  const PixelRows rows{4, 4, 1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {1, 2, 2, 2, false}};
  std::vector<float> image(4);
  resample(rows, 2, 2, one, zero, image.data());
  EXPECT_EQ(image, (std::vector<float>{9, 10, 13, 14}));
}

}  // namespace
}  // namespace gpusizer
