// SPDX-License-Identifier: Apache-2.0
// Decoding JPEGs: colours, scales, and the refusal of whatever is not whole.
#include "workloads/data/jpeg_image.hpp"

#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::Bytes;
using made::caught;
using made::expect_says;

const std::string path = "some/picture.jpg";

Crop whole(const JpegImage& jpeg) {
  return {0, 0, static_cast<double>(jpeg.width()), static_cast<double>(jpeg.height()), false};
}

PixelRows decode_whole(const Bytes& bytes, int64_t channels, int64_t out = 8) {
  JpegImage jpeg(bytes, path);
  return jpeg.decode(whole(jpeg), channels, out, out);
}

TEST(JpegImage, DecodesColours) {
  const PixelRows rows = decode_whole(made::plain_jpeg(16, 8, {200, 100, 50}), 3);
  ASSERT_EQ(rows.bytes.size(), 16U * 8 * 3);
  for (size_t i = 0; i < rows.bytes.size(); i += 3) {
    EXPECT_NEAR(rows.bytes[i], 200, 2);
    EXPECT_NEAR(rows.bytes[i + 1], 100, 2);
    EXPECT_NEAR(rows.bytes[i + 2], 50, 2);
  }
}

TEST(JpegImage, ConvertsBetweenGreyAndColour) {
  const Bytes grey = made::plain_jpeg(8, 8, {77}, {.colours = JCS_GRAYSCALE});
  EXPECT_NEAR(decode_whole(grey, 3).bytes[100], 77, 1);
  EXPECT_EQ(decode_whole(grey, 1).bytes.size(), 64U);
  EXPECT_NEAR(decode_whole(made::plain_jpeg(8, 8, {200, 100, 50}), 1).bytes[10], 0.299 * 200 + 0.587 * 100 + 0.114 * 50,
              2);
}

// libjpeg writes an Adobe marker into files of inks, so the values count as inverted: 255 is no ink.
TEST(JpegImage, ConvertsInks) {
  const Bytes inks = made::plain_jpeg(8, 8, {255, 128, 0, 255}, {.colours = JCS_CMYK});
  const PixelRows rows = decode_whole(inks, 3);
  ASSERT_EQ(rows.bytes.size(), 8U * 8 * 3);
  EXPECT_NEAR(rows.bytes[0], 255, 2);
  EXPECT_NEAR(rows.bytes[1], 128, 2);
  EXPECT_NEAR(rows.bytes[2], 0, 2);
  EXPECT_NEAR(decode_whole(inks, 1).bytes[0], 0.299 * 255 + 0.587 * 128, 2);
}

// The smallest scale in eighths that leaves enough pixels; the crop is scaled along.
TEST(JpegImage, ScalesDownWhileDecoding) {
  const Bytes bytes = made::plain_jpeg(160, 80, {9, 9, 9});
  JpegImage jpeg(bytes, path);
  const PixelRows rows = jpeg.decode({40, 16, 80, 48, true}, 3, 20, 12);
  EXPECT_EQ(rows.width, 40);  // 2/8
  EXPECT_DOUBLE_EQ(rows.crop.left, 10);
  EXPECT_DOUBLE_EQ(rows.crop.width, 20);
  EXPECT_DOUBLE_EQ(rows.crop.height, 12);
  EXPECT_TRUE(rows.crop.mirrored);
  EXPECT_LE(rows.height, 15);  // only the rows of the crop, and one more on each side
  EXPECT_GE(rows.height, 13);
}

// A picture whose rows differ: the rows of a crop are the right ones.
TEST(JpegImage, DecodesTheRowsOfTheCrop) {
  for (const bool progressive : {false, true}) {
    Bytes pixels;
    for (int y = 0; y < 64; ++y) pixels.insert(pixels.end(), 8, static_cast<uint8_t>(4 * y));
    const Bytes bytes = made::encode_jpeg({8, 64, 1, JCS_GRAYSCALE, progressive}, pixels);
    JpegImage jpeg(bytes, path);
    const PixelRows rows = jpeg.decode({0, 20, 8, 10, false}, 1, 8, 10);
    const auto first = static_cast<size_t>(rows.crop.top) * static_cast<size_t>(rows.width);
    EXPECT_NEAR(rows.bytes[first], 80, 3);
    EXPECT_NEAR(rows.bytes[first + 9 * 8], 116, 3);
  }
}

TEST(JpegImage, RefusesWhatIsNoJpeg) {
  expect_says(caught([] { decode_whole({}, 3); }), Fault::input, {path, "empty"});
  expect_says(caught([] { decode_whole({0x89, 'P', 'N', 'G', 1, 2, 3, 4}, 3); }), Fault::input, {path, "not a JPEG"});
  expect_says(caught([] { decode_whole({0xff, 0xd8}, 3); }), Fault::input, {path + ", byte 2", "cut short"});
}

// Wherever the file was cut, also when only the upper rows are wanted: libjpeg alone would paint the rest grey.
TEST(JpegImage, RefusesEveryTruncation) {
  for (const bool progressive : {false, true}) {
    const Bytes bytes = made::busy_jpeg(40, 40, {.progressive = progressive});
    for (size_t length = 0; length < bytes.size(); length += 7) {
      const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
      const Error error = caught([&] {
        JpegImage jpeg(cut, path);
        jpeg.decode({0, 0, 40, 8, false}, 3, 40, 8);
      });
      expect_says(error, Fault::input, {path});
    }
    Bytes zeros = bytes;  // a download that set the size first
    std::fill(zeros.begin() + static_cast<std::ptrdiff_t>(zeros.size() / 2), zeros.end(), uint8_t{0});
    expect_says(caught([&] { decode_whole(zeros, 3); }), Fault::input, {"cut short"});
  }
}

// The end marker is there, but data in between is missing.
TEST(JpegImage, RefusesMissingData) {
  Bytes bytes = made::busy_jpeg(64, 64);
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end() - 2);
  expect_says(caught([&] { decode_whole(bytes, 3); }), Fault::input, {path, "cut short"});
}

TEST(JpegImage, AllowsBytesAfterTheEnd) {
  Bytes bytes = made::plain_jpeg(8, 8, {1, 2, 3});
  bytes.insert(bytes.end(), 100, 0);
  EXPECT_EQ(decode_whole(bytes, 3).bytes.size(), 192U);
}

// Height and width in the frame header replaced: 65,500 pixels a side in a file of a few hundred bytes.
TEST(JpegImage, RefusesHugeDimensions) {
  Bytes bytes = made::plain_jpeg(8, 8, {1, 2, 3});
  for (size_t i = 0; i + 8 < bytes.size(); ++i) {
    if (bytes[i] != 0xff || bytes[i + 1] != 0xc0) continue;
    bytes[i + 5] = bytes[i + 7] = 0xff;
    bytes[i + 6] = bytes[i + 8] = 0xdc;
    break;
  }
  expect_says(caught([&] { decode_whole(bytes, 3); }), Fault::input, {path, "65500 x 65500"});
}

// Damage anywhere either leaves a picture of the right size or is an Error; never a crash, never another exception.
TEST(JpegImage, SurvivesDamage) {
  for (const bool progressive : {false, true}) {
    const Bytes bytes = made::busy_jpeg(24, 24, {.progressive = progressive});
    int refused = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      Bytes damaged = bytes;
      damaged[i] ^= static_cast<uint8_t>(1 + i % 255);
      try {
        const PixelRows rows = decode_whole(damaged, 3);
        EXPECT_EQ(rows.bytes.size(), static_cast<size_t>(rows.width * rows.height * 3));
      } catch (const Error& error) {
        expect_says(error, Fault::input, {path});
        ++refused;
      }
    }
    EXPECT_GT(refused, 0);
  }
}

// A progressive file may repeat a scan without end; each costs a pass over the picture.
TEST(JpegImage, RefusesEndlessScans) {
  const Bytes bytes = made::busy_jpeg(8, 8, {.progressive = true});
  size_t last_scan = 0;
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    if (bytes[i] == 0xff && bytes[i + 1] == 0xda) last_scan = i;
  }
  Bytes bomb(bytes.begin(), bytes.end() - 2);
  const Bytes scan(bytes.begin() + static_cast<std::ptrdiff_t>(last_scan), bytes.end() - 2);
  for (int i = 0; i < 1000; ++i) bomb.insert(bomb.end(), scan.begin(), scan.end());
  bomb.insert(bomb.end(), {0xff, 0xd9});
  expect_says(caught([&] { decode_whole(bomb, 3); }), Fault::input, {path, "more than 200 scans"});
}

}  // namespace
}  // namespace gpusizer
