// SPDX-License-Identifier: Apache-2.0
// Files, plain and .gz: what is read, and every refusal by name and offset.
#include "workloads/data/packed_file.hpp"

#include <sys/stat.h>

#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::Bytes;
using made::caught;
using made::expect_says;
using made::TempFolder;

const Bytes numbers = made::counting_pixels(3, 200);

TEST(PackedFile, ReadsPlainAndPackedAlike) {
  const TempFolder folder;
  for (const bool packed : {false, true}) {
    PackedFile file(folder.write("numbers", packed ? made::gzip(numbers) : numbers));
    EXPECT_EQ(file.packed(), packed);
    EXPECT_EQ(file.read(200, "numbers"), Bytes(numbers.begin(), numbers.begin() + 200));
    EXPECT_EQ(file.offset(), 200);
    EXPECT_EQ(file.read(400, "numbers"), Bytes(numbers.begin() + 200, numbers.end()));
    EXPECT_NO_THROW(file.expect_end());
    EXPECT_GE(file.most_bytes(), 600);
  }
}

TEST(PackedFile, ReadsMembersPutEndToEnd) {
  const TempFolder folder;
  Bytes bytes = made::gzip({1, 2}), more = made::gzip({3});
  bytes.insert(bytes.end(), more.begin(), more.end());
  PackedFile file(folder.write("two.gz", bytes));
  EXPECT_EQ(file.read(3, "numbers"), (Bytes{1, 2, 3}));
  EXPECT_NO_THROW(file.expect_end());
}

// Larger than the buffers inside.
TEST(PackedFile, ReadsLargeFiles) {
  const TempFolder folder;
  const Bytes large = made::counting_pixels(700, 1000);
  for (const Bytes& stored : {large, made::gzip(large)}) {
    PackedFile file(folder.write("large", stored));
    EXPECT_EQ(file.read(700000, "numbers"), large);
    EXPECT_NO_THROW(file.expect_end());
  }
}

TEST(PackedFile, RefusesWhatIsCutShort) {
  const TempFolder folder;
  PackedFile plain(folder.write("plain", numbers));
  expect_says(caught([&] { plain.read(601, "the pixels"); }), Fault::input,
              {folder.text() + "/plain, byte 600", "600 bytes of 601", "the pixels"});
  const Bytes packed = made::gzip(numbers);
  for (size_t length = 2; length < packed.size(); ++length) {  // wherever it was cut, the trailer included
    PackedFile file(
        folder.write("cut.gz", Bytes(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(length))));
    const Error error = caught([&] {
      file.read(600, "the pixels");
      file.expect_end();
    });
    expect_says(error, Fault::input, {"cut.gz, packed byte " + std::to_string(length), "ends before its data does"});
  }
}

TEST(PackedFile, RefusesWhatFollowsTheEnd) {
  const TempFolder folder;
  PackedFile plain(folder.write("plain", numbers));
  plain.read(599, "the pixels");
  expect_says(caught([&] { plain.expect_end(); }), Fault::input, {"plain, byte 599", "goes on after"});
  Bytes packed = made::gzip(numbers);
  const std::string end = std::to_string(packed.size());
  packed.push_back('x');
  PackedFile file(folder.write("garbage.gz", packed));
  file.read(600, "the pixels");
  expect_says(caught([&] { file.expect_end(); }), Fault::input, {"garbage.gz, packed byte " + end, "not .gz data"});
}

// No changed byte goes unnoticed, except in the header's fields for time and system, which say nothing about the data.
TEST(PackedFile, RefusesDamage) {
  const TempFolder folder;
  const Bytes packed = made::gzip(numbers);
  for (size_t i = 10; i < packed.size(); ++i) {
    Bytes damaged = packed;
    damaged[i] ^= 0x10;
    PackedFile file(folder.write("damaged.gz", damaged));
    try {
      const Bytes read = file.read(600, "the pixels");
      file.expect_end();
      EXPECT_EQ(read, numbers) << "byte " << i;  // a change of unused bits
    } catch (const Error& error) {
      expect_says(error, Fault::input, {"damaged.gz"});
    }
  }
}

TEST(DataFile, RefusesWhatIsNoFile) {
  const TempFolder folder;
  expect_says(caught([&] { DataFile file(folder.path() / "missing"); }), Fault::input,
              {folder.text() + "/missing", "no such file"});
  expect_says(caught([&] { DataFile file(folder.path()); }), Fault::input,
              {folder.text(), "a folder is where a file is expected"});
  const std::string pipe = folder.text() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_says(caught([&] { DataFile file(pipe); }), Fault::input, {pipe, "not a regular file"});
  expect_says(caught([&] { DataFile file(folder.write("a", {}) / "b"); }), Fault::input, {"a/b", "no such file"});
}

// Root may read everything, so root's tests become nobody for a moment.
TEST(DataFile, RefusesWithoutPermission) {
  constexpr uid_t nobody = 65534;
  const TempFolder folder;
  const auto path = folder.write("secret", {1});
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  const uid_t self = ::geteuid();
  if (self == 0 && ::seteuid(nobody) != 0) GTEST_SKIP() << "root may read everything";
  const Error error = caught([&] { DataFile file(path); });
  ASSERT_EQ(::seteuid(self), 0);
  expect_says(error, Fault::input, {"secret", "may not be read"});
}

TEST(DataFile, RefusesMoreThanAllowed) {
  const TempFolder folder;
  expect_says(caught([&] { read_whole_file(folder.write("large", numbers), 599); }), Fault::input,
              {"large", "600 bytes"});
  EXPECT_EQ(read_whole_file(folder.path() / "large", 600), numbers);
}

}  // namespace
}  // namespace gpusizer
