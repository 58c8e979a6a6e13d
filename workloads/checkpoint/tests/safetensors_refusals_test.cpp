// SPDX-License-Identifier: Apache-2.0
// Damaged and foreign safetensors files: each is refused with its name and what is wrong with it.
#include "workloads/checkpoint/safetensors_reader.hpp"
#include "workloads/checkpoint/safetensors_writer.hpp"
#include "workloads/checkpoint/tests/safetensors_files.hpp"

namespace gpusizer {
namespace {

class SafetensorsRefusals : public FolderTest {
 protected:
  void expect_refused(const std::string& bytes, const std::string& why) {
    const auto path = folder / "bad.safetensors";
    put(path, bytes);
    const std::string sentence = refusal([&] { SafetensorsReader{path}; });
    expect_in(why, sentence);
    expect_in("bad.safetensors", sentence);
  }
  void expect_header_refused(const std::string& header, const std::string& why, std::size_t data_bytes = 8) {
    expect_refused(with_length(header, std::string(data_bytes, 'x')), why);
  }
};

std::string tensor(const std::string& name, const std::string& offsets, const std::string& shape = "[1]",
                   const std::string& type = "F32") {
  return "\"" + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

TEST_F(SafetensorsRefusals, Sizes) {
  expect_refused("", "too few");
  expect_refused("1234567", "too few");
  expect_refused(std::string(8, '\0'), "does not begin");
  expect_refused(with_length("{}", "").substr(0, 9), "cut off");
  expect_refused(std::string(7, '\xff') + '\x7f', "cut off");
  expect_refused(std::string(8, '\xff') + "{}", "cut off");
  expect_header_refused("{}", "last 3 bytes belong to no tensor", 3);
  put(folder / "none", "");
  expect_in("nothing", refusal([&] { SafetensorsReader{folder / "nothing"}; }));
  expect_in("regular", refusal([&] { SafetensorsReader{folder}; }));
}

TEST_F(SafetensorsRefusals, AHeaderOverTheCap) {
  const auto path = folder / "huge";
  std::string start(8, '\0');
  const std::uint64_t length = 100'000'001;
  std::memcpy(start.data(), &length, 8);
  put(path, start + "{");
  std::filesystem::resize_file(path, 8 + length);
  expect_in("100 MB", refusal([&] { SafetensorsReader{path}; }));
}

TEST_F(SafetensorsRefusals, Json) {
  expect_header_refused("{", "not JSON at byte");
  expect_header_refused(" {}", "does not begin");
  expect_header_refused("{}}", "not JSON");
  expect_header_refused("{\"\xff\": 1}", "not JSON");
  expect_header_refused("{\"a\":" + std::string(100'000, '[') + "}", "nested");
  expect_header_refused("{\"a\":1e999}", "cannot be read");
  expect_header_refused("{\"a\":3}", "'a' is not described");
  expect_header_refused("{\"__metadata__\":[]}", "__metadata__");
  expect_header_refused("{\"__metadata__\":{\"a\":1}}", "not a string");
  expect_header_refused("{" + tensor("a", "[0,4]") + "," + tensor("a", "[4,8]") + "}", "'a' is given twice");
}

TEST_F(SafetensorsRefusals, Tensors) {
  expect_header_refused("{\"a\":{\"shape\":[1],\"data_offsets\":[0,8],\"x\":0}}", "no dtype");
  expect_header_refused("{" + tensor("a", "[0,8]", "[1]", "F63") + "}", "F63");
  expect_header_refused("{" + tensor("a", "[0]") + "}", "1 data_offsets");
  expect_header_refused("{" + tensor("a", "[0,-4]") + "}", "whole numbers");
  expect_header_refused("{" + tensor("a", "[0,4.0]") + "}", "whole numbers");
  expect_header_refused("{" + tensor("a", "[0,18446744073709551615]") + "}", "whole numbers");
  expect_header_refused("{" + tensor("a", "[0,8]", "\"1\"") + "}", "no list 'shape'");
  expect_header_refused("{" + tensor("a", "[4,0]") + "}", "bytes 4 to 0");
  expect_header_refused("{" + tensor("a", "[0,12]", "[3]") + "}", "0 to 12 of 8");
  expect_header_refused("{" + tensor("a", "[0,8]", "[3]") + "}", "8 bytes, but F32 of [3] take 12");
  expect_header_refused("{" + tensor("a", "[0,8]", "[4611686018427387904,4]") + "}", "more than 2^63");
}

TEST_F(SafetensorsRefusals, Places) {
  expect_header_refused("{" + tensor("a", "[0,4]") + "," + tensor("b", "[0,4]") + "}", "overlaps");
  expect_header_refused("{" + tensor("a", "[0,8]", "[2]") + "," + tensor("b", "[4,8]") + "}", "'b' overlaps");
  expect_header_refused("{" + tensor("b", "[4,8]") + "}", "4 bytes before tensor 'b'");
  expect_header_refused("{" + tensor("a", "[0,4]") + "}", "last 4 bytes");
}

void put_byte(const std::filesystem::path& path, std::size_t place, char byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(place));
  file.put(byte);
}

// Whatever bit is flipped, wherever it is: the reader must notice.
TEST_F(SafetensorsRefusals, EverySingleFlippedBit) {
  const auto path = folder / "good.safetensors", bad = folder / "bad.safetensors";
  SafetensorsWriter writer(path, {{"layer.weight", StoredType::f32, {2, 2}}}, {{"step", "12"}});
  const std::vector<float> values{1, 2, 3, 4};
  writer.append(std::span(values));
  writer.finish();
  const std::string good = content_of(path);
  put(bad, good);
  int noticed = 0;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    put_byte(bad, bit / 8, static_cast<char>(good[bit / 8] ^ (1 << bit % 8)));
    try {
      const SafetensorsReader reader(bad);
      // Only the word "gpusizer_checksum" itself can be damaged so: whoever needs a checksum sees that there is none.
      EXPECT_FALSE(reader.has_checksum()) << "bit " << bit;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::input);
      ++noticed;
    }
    put_byte(bad, bit / 8, good[bit / 8]);
  }
  EXPECT_GE(noticed, static_cast<int>(8 * (good.size() - checksum_word.size())));
  for (std::size_t size = good.size(); size-- > 0;) {
    std::filesystem::resize_file(bad, size);
    refusal([&] { SafetensorsReader{bad}; });
  }
}

}  // namespace
}  // namespace gpusizer
