// SPDX-License-Identifier: Apache-2.0
// Files for the tests of this room: a folder that goes away, whole files as text, hand-made safetensors files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gpusizer/error.hpp"

namespace gpusizer {

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string name = (std::filesystem::temp_directory_path() / "gpusizer-checkpoint-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~FolderTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
};

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void put(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string with_length(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + data;
}

// The sentence of the Error that `act` throws; fails the test when it throws none, or one of another fault.
template <class Act>
std::string refusal(Act act, Fault fault = Fault::input) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline void expect_in(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace gpusizer
