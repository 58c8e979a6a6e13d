// SPDX-License-Identifier: Apache-2.0
// Tests of catalogue files that a person brings: what is accepted, and what is refused in which words.
#include "cloud/catalog/read_catalog.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "gpusizer/error.hpp"

namespace gpusizer::cloud {
namespace {

// An instances file with one row whose price objects are given.
std::string instances_file(const std::string& on_demand, const std::string& spot,
                           const std::string& more = "\"gpu\":\"T4\",\"gpu_count\":1") {
  return fmt::format(R"({{"schema":"gpusizer.instances/1","sources":{{"me":"my own list"}},"billing":[],"instances":[
    {{"cloud":"mine","name":"box","region":null,{},"memory_gib":16,"on_demand":{},"spot":{},"source":"me"}}]}})",
                     more, on_demand, spot);
}

class CatalogFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("gpusizer_catalog_{}_{}", ::testing::UnitTest::GetInstance()->current_test_info()->name(),
                          std::chrono::steady_clock::now().time_since_epoch().count());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& text, const std::string& name = "instances.json") {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  std::string refusal(const std::string& text) {
    try {
      load_catalog(write(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::input);
      return error.what();
    }
    return "accepted";
  }
  std::filesystem::path folder_;
};

TEST_F(CatalogFile, AFileReplacesThePartItsSchemaNames) {
  const Catalog catalog = load_catalog(write(instances_file(R"({"usd_per_hour":0.5,"as_of":"2026-01"})", "null")));
  ASSERT_EQ(catalog.instances.size(), 1u);
  EXPECT_GT(catalog.gpus.size(), 60u);
  EXPECT_EQ(catalog.instances[0].region, "");
  EXPECT_EQ(catalog.instances[0].on_demand->source, "my own list");
  EXPECT_FALSE(catalog.instances[0].spot);
}

TEST_F(CatalogFile, AFolderReplacesWhatItHolds) {
  write(instances_file("null", "null"));
  EXPECT_EQ(load_catalog(folder_).instances.size(), 1u);
}

TEST_F(CatalogFile, AnAliasBecomesTheCataloguesName) {
  const Catalog catalog = load_catalog(write(instances_file("null", "null", "\"gpu\":\"Tesla T4\",\"gpu_count\":1")));
  EXPECT_EQ(catalog.instances[0].gpu, "T4");
}

TEST_F(CatalogFile, ThePriceZeroIsRefused) {
  const std::string message = refusal(instances_file(R"({"usd_per_hour":0,"as_of":"2026-01-01"})", "null"));
  EXPECT_NE(message.find("\"usd_per_hour\" must be a number above 0"), std::string::npos) << message;
  EXPECT_NE(message.find("/instances/0/on_demand/usd_per_hour"), std::string::npos) << message;
}

TEST_F(CatalogFile, WrongValuesAreRefusedByPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {instances_file(R"({"usd_per_hour":-1,"as_of":"2026"})", "null"), "above 0"},
      {instances_file(R"({"usd_per_hour":"1","as_of":"2026"})", "null"), "above 0"},
      {instances_file(R"({"usd_per_hour":1,"as_of":"2026-02-30"})", "null"), "2026-02-30"},
      {instances_file(R"({"usd_per_hour":1})", "null"), "\"as_of\" is missing"},
      {instances_file(R"({"usd_per_hour":1,"as_of":"2026","source":"who"})", "null"), "\"who\" is not in"},
      {instances_file("7", "null"), "/instances/0/on_demand"},
      {instances_file("null", "null", "\"gpu\":\"T5\",\"gpu_count\":1"), "neither a GPU nor an alias"},
      {instances_file("null", "null", "\"gpu\":\"T4\""), "without a count"},
      {instances_file("null", "null", "\"gpu\":\"T4\",\"gpu_count\":1.5"), "whole number"},
      {instances_file("null", "null", "\"gpu\":null"), "neither a GPU nor a CPU"}};
  for (const auto& [text, words] : cases) {
    const std::string message = refusal(text);
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }
}

TEST_F(CatalogFile, SpotMustBeBelowOnDemandOrFlagged) {
  const std::string od = R"({"usd_per_hour":1,"as_of":"2026"})";
  EXPECT_NE(refusal(instances_file(od, R"({"usd_per_hour":1,"as_of":"2026"})")).find("not below on-demand"),
            std::string::npos);
  EXPECT_EQ(refusal(instances_file(od, R"({"usd_per_hour":1,"as_of":"2026","flag":"the feed repeats on-demand"})")),
            "accepted");
}

TEST_F(CatalogFile, DamagedFilesAreRefusedByByte) {
  EXPECT_NE(refusal("{\"schema\":").find("byte"), std::string::npos);
  EXPECT_NE(refusal("").find("byte"), std::string::npos);
  EXPECT_NE(refusal("[]").find("object"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema":"gpusizer.gpus/9"})").find("gpusizer.gpus/9"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema":"gpusizer.gpus/1"})").find("\"gpus\" must be a list"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema":1e999})").find("out of range"), std::string::npos);
}

TEST_F(CatalogFile, TheSameRowTwiceIsRefused) {
  std::string text = instances_file("null", "null");
  const std::string row = text.substr(text.find("{\"cloud\""), text.rfind("}]}") + 1 - text.find("{\"cloud\""));
  text.insert(text.find("{\"cloud\""), row + ",");
  EXPECT_NE(refusal(text).find("is there twice"), std::string::npos);
}

TEST_F(CatalogFile, MissingFilesAndEmptyFoldersAreRefused) {
  EXPECT_THROW(load_catalog(folder_ / "none.json"), Error);
  EXPECT_THROW(load_catalog(folder_), Error);
}

}  // namespace
}  // namespace gpusizer::cloud
