// SPDX-License-Identifier: Apache-2.0
// Compares a text with a file of the folder golden/.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "reports/record/atomic_file.hpp"

namespace gpusizer::render {

// To renew the files after a wanted change: GPUSIZER_RENEW_GOLDEN=1 gpusizer_render_tests --gtest_filter='*Golden*'
inline void expect_golden(const std::string& text, const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(__FILE__).parent_path() / "golden" / name;
  if (std::getenv("GPUSIZER_RENEW_GOLDEN")) record::write_file_atomically(path, text);
  EXPECT_EQ(text, record::read_whole_file(path, 1u << 20)) << name;
}

}  // namespace gpusizer::render
