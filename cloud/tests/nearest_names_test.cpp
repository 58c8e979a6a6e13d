// SPDX-License-Identifier: Apache-2.0
// Tests of the names offered for a mistyped one.
#include "cloud/catalog/nearest_names.hpp"

#include <gtest/gtest.h>

namespace gpusizer::cloud {
namespace {

const std::vector<std::string> known = {"c7i.xlarge", "c7a.xlarge", "c7i.2xlarge", "p4d.24xlarge", "c7i.xlarge"};

TEST(NearestNames, NearestFirstEachOnce) {
  EXPECT_EQ(nearest_names("C7I.xlarg", known, 2), (std::vector<std::string>{"c7i.xlarge", "c7a.xlarge"}));
}

TEST(NearestNames, NothingWhenNothingIsNear) {
  EXPECT_TRUE(nearest_names("zzzzzzzzzzzz", known, 3).empty());
  EXPECT_TRUE(nearest_names("", known, 3).empty());
}

TEST(NearestNames, LongInputIsHarmless) { EXPECT_TRUE(nearest_names(std::string(1'000'000, 'x'), known, 3).empty()); }

}  // namespace
}  // namespace gpusizer::cloud
