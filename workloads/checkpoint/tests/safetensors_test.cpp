// SPDX-License-Identifier: Apache-2.0
// Safetensors files: what is written is read back, byte for byte as the format says; other types; a crash in between.
#include <cmath>
#include <limits>

#include "workloads/checkpoint/half_floats.hpp"
#include "workloads/checkpoint/safetensors_reader.hpp"
#include "workloads/checkpoint/safetensors_writer.hpp"
#include "workloads/checkpoint/tests/safetensors_files.hpp"

namespace gpusizer {
namespace {

using Safetensors = FolderTest;

TEST(ContentHash, GivesThePublishedValuesWhateverThePieces) {
  EXPECT_EQ(ContentHash().text(), "ef46db3751d8e999");
  const auto hash = [](std::string_view text, std::size_t piece) {
    ContentHash result;
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) result.add(text.substr(0, piece));
    return result.text();
  };
  EXPECT_EQ(hash("a", 1), "d24ec4f1a98c6e5b");
  EXPECT_EQ(hash("abc", 3), "44bc2cf5ad770999");
  const std::string_view long_text = "Nobody inspects the spammish repetition";
  EXPECT_EQ(hash(long_text, 100), "fbcea83c8a378bf1");
  for (std::size_t piece : {1, 7, 31, 32, 33}) EXPECT_EQ(hash(long_text, piece), "fbcea83c8a378bf1");
}

TEST_F(Safetensors, WhatIsWrittenIsReadBack) {
  const auto path = folder / "a.safetensors";
  const std::vector<float> weights{1.5F, -0.0F, NAN, std::numeric_limits<float>::denorm_min(), INFINITY, 3};
  const std::vector<double> losses{0.1, 1e300};
  const std::vector<std::int32_t> small{-7, 8};
  const std::vector<std::int64_t> large{INT64_MAX};
  SafetensorsWriter writer(path,
                           {{"run/losses", StoredType::f64, {2}},
                            {"large", StoredType::i64, {}},
                            {"conv.weight", StoredType::f32, {2, 3}},
                            {"empty", StoredType::f32, {0, 5}},
                            {"small \"quoted\" \u00e9", StoredType::i32, {2}}},
                           {{"step", "12"}});
  writer.append(std::span(losses));
  writer.append(std::span(large));
  writer.append(std::span(weights));
  writer.append(std::span<const float>());
  writer.append(std::span(small));
  EXPECT_FALSE(std::filesystem::exists(path));  // before it is complete
  const std::int64_t bytes = writer.finish();
  EXPECT_EQ(bytes, static_cast<std::int64_t>(std::filesystem::file_size(path)));

  const SafetensorsReader reader(path);
  EXPECT_TRUE(reader.has_checksum());
  EXPECT_EQ(reader.words().at("step"), "12");
  ASSERT_EQ(reader.tensors().size(), 5u);
  EXPECT_EQ(*reader.find("conv.weight"), (StoredTensor{"conv.weight", StoredType::f32, {2, 3}}));
  EXPECT_EQ(reader.find("bias"), nullptr);
  std::vector<float> floats(6);
  reader.read("conv.weight", std::span(floats));
  EXPECT_EQ(std::memcmp(floats.data(), weights.data(), sizeof(float) * 6), 0);
  std::vector<double> doubles(2);
  reader.read("run/losses", std::span(doubles));
  EXPECT_EQ(doubles, losses);
  std::vector<std::int64_t> whole(1), two(2);
  reader.read("large", std::span(whole));
  reader.read("small \"quoted\" \u00e9", std::span(two));
  EXPECT_EQ(whole, large);
  EXPECT_EQ(two, (std::vector<std::int64_t>{-7, 8}));
  expect_in("has no tensor 'bias'", refusal([&] { reader.read("bias", std::span(floats)); }));
  expect_in("[2, 3]", refusal([&] { reader.read("conv.weight", std::span(doubles)); }));
  expect_in("F64", refusal([&] {
              std::vector<float> f(2);
              reader.read("run/losses", std::span(f));
            }));
}

TEST_F(Safetensors, TheBytesAreThoseOfTheFormat) {
  const auto path = folder / "a.safetensors";
  SafetensorsWriter writer(path, {{"x", StoredType::f32, {1}}}, {});
  const std::vector<float> one{1.0F};
  writer.append(std::span(one));
  writer.finish();
  const std::string bytes = content_of(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + length + 4);
  EXPECT_EQ(bytes.substr(8 + length), std::string("\0\0\x80\x3f", 4));
  expect_in(R"("x":{"data_offsets":[0,4],"dtype":"F32","shape":[1]})", bytes);
}

TEST_F(Safetensors, HalfPrecisionIsWidenedExactly) {
  EXPECT_EQ(from_f16(0x3C00), 1.0F);
  EXPECT_EQ(from_f16(0xC000), -2.0F);
  EXPECT_EQ(from_f16(0x7BFF), 65504.0F);
  EXPECT_EQ(from_f16(0x0001), std::ldexp(1.0F, -24));
  EXPECT_EQ(from_f16(0xFC00), -INFINITY);
  EXPECT_TRUE(std::isnan(from_f16(0x7E00)));
  EXPECT_EQ(from_bf16(0x3F80), 1.0F);
  put(folder / "h", with_length(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[4,8]},)"
                                R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}  )",
                                std::string("\x80\x3f\x00\xc0\x00\x3c\x00\xc0", 8)));
  const SafetensorsReader reader(folder / "h");  // of another program: no checksum
  EXPECT_FALSE(reader.has_checksum());
  EXPECT_EQ(reader.tensors().front().name, "b");
  for (const char* name : {"a", "b"}) {
    std::vector<float> values(2);
    reader.read(name, std::span(values));
    EXPECT_EQ(values, (std::vector<float>{1, -2})) << name;
  }
}

TEST_F(Safetensors, AnUnfinishedFileLeavesThePreviousOne) {
  const auto path = folder / "a.safetensors";
  put(path, "yesterday");
  const std::vector<float> one{1.0F};
  {
    SafetensorsWriter writer(path, {{"x", StoredType::f32, {1}}, {"y", StoredType::f32, {1}}}, {});
    writer.append(std::span(one));
    expect_in("'y' was not written", refusal([&] { writer.finish(); }, Fault::usage));
    expect_in("do not fit tensor 'y'", refusal([&] { writer.append(std::span<const float>()); }, Fault::usage));
  }
  EXPECT_EQ(content_of(path), "yesterday");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(Safetensors, WhatCannotBeWrittenIsRefused) {
  const auto write = [&](std::vector<StoredTensor> tensors, FileWords words) {
    SafetensorsWriter(folder / "a", std::move(tensors), std::move(words));
  };
  const StoredTensor x{"x", StoredType::f32, {1}};
  refusal([&] { write({x, x}, {}); }, Fault::usage);
  refusal([&] { write({{"__metadata__", StoredType::f32, {1}}}, {}); }, Fault::usage);
  refusal([&] { write({{"x", StoredType::f32, {INT64_MAX, 2}}}, {}); }, Fault::usage);
  expect_in("UTF-8", refusal([&] { write({{"\xff", StoredType::f32, {1}}}, {}); }, Fault::usage));
  expect_in("no/such", refusal([&] { SafetensorsWriter(folder / "no/such/file", {x}, {}); }, Fault::environment));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace gpusizer
