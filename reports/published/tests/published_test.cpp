// SPDX-License-Identifier: Apache-2.0
// What is compiled in can be read, is complete and names its sources.
#include "reports/published/published.hpp"

#include <gtest/gtest.h>

#include <set>

#include "gpusizer/error.hpp"
#include "reports/import/gpu_names.hpp"

namespace gpusizer::published {
namespace {

TEST(Published, EveryRowHasASourceAYearAndAKnownGpu) {
  const auto all = rows();
  const auto catalog = cloud::load_catalog();
  ASSERT_GT(all.size(), 300U);
  std::set<std::string> models;
  std::set<std::string> unknown;
  for (const auto& row : all) {
    models.insert(row.model);
    EXPECT_FALSE(row.source.empty());
    EXPECT_FALSE(row.batch.empty());
    if (!import::gpu_named(catalog, row.gpu, row.gpu_memory)) unknown.insert(row.gpu);
  }
  for (const char* model : {"ResNet-50 v1.5", "AlexNet", "BERT-Base", "BERT-Large"}) EXPECT_TRUE(models.contains(model)) << model;
  EXPECT_LE(unknown.size(), 6U) << "laptops only";
  EXPECT_FALSE(years_of(all.front().source).empty());
  EXPECT_EQ(years_of("nobody"), "");
}

TEST(Published, RefusesWhatIsNoSuchFile) {
  EXPECT_THROW(read_rows("{}", "x"), Error);
  EXPECT_THROW(read_rows("[", "x"), Error);
  EXPECT_THROW(read_rows(R"({"schema": "gpusizer.published/1", "sources": [], "measurements": [{}]})", "x"), Error);
}

}  // namespace
}  // namespace gpusizer::published
