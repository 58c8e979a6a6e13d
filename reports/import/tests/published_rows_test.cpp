// SPDX-License-Identifier: Apache-2.0
// Tables of other people: what is read, what is held out and why, what is refused.
#include "reports/import/published_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gpusizer/error.hpp"
#include "reports/import/gpu_names.hpp"
#include "reports/import/notes_text.hpp"

namespace gpusizer::import {
namespace {

constexpr const char* heading =
    "source,model,framework,dataset,gpu,gpu_mem_gb,gpus,nodes,precision,batch_per_gpu,throughput,unit,notes\n";

PublishedTable read(const std::string& rows) { return read_published(parse_csv(heading + rows, "t.csv"), "t.csv"); }

std::string good(int gpus, double rate) {
  return fmt::format("o/r@1:f,m,p,d,V100,16,{},1,fp32,8,{},images/s,\n", gpus, rate);
}

std::string kinds(const PublishedTable& table) {
  std::string text;
  for (const Finding& finding : table.held_out) text += fmt::format("{}:{} ", finding.line, finding.kind);
  return text;
}

TEST(CsvTable, QuotesAndLineEnds) {
  const CsvTable table = parse_csv("\xef\xbb\xbf" "a,b\r\n\"x, \"\"y\"\"\",\"two\nlines\"\n\n1,2", "t");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.columns[0], "a");
  EXPECT_EQ(table.rows[0].cells[0], "x, \"y\"");
  EXPECT_EQ(table.rows[0].cells[1], "two\nlines");
  EXPECT_EQ(table.rows[1].line, 5U);
  EXPECT_THROW(parse_csv("a\n\"open", "t"), Error);
  EXPECT_THROW(parse_csv("", "t"), Error);
  EXPECT_THROW(parse_csv(std::string_view("a\0b", 3), "t"), Error);
}

TEST(PublishedRows, AMissingColumnIsNamed) {
  try {
    read_published(parse_csv("source,model\nx,y\n", "t.csv"), "t.csv");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::input);
    EXPECT_NE(std::string(error.what()).find("'framework'"), std::string::npos) << error.what();
  }
}

TEST(PublishedRows, GarbageIsHeldOutByLine) {
  const auto table = read(good(1, 100) + "o/r@1:f,m,p,d,V100,16,x,1,fp32,8,5,images/s,\n" +
                          "o/r@1:f,m,p,d,V100,16,2,1,fp32,8,nan,images/s,\n" + "o/r@1:f,m,p,d,V100,16,2,3,fp32,8,5,images/s,\n" +
                          "too,few,cells\n" + "o/r@1:f,m,p,d,V100,16,2,1,fp32,-1,5,images/s,\n" +
                          "o/r@1:f,m,p,d,V100,16,2,1,fp32,8,1e999,images/s,\n" + "o/r@1:f,m,p,d,V100,16,2,1,fp32,8,-4,images/s,\n");
  EXPECT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(kinds(table), "3:garbage 4:garbage 5:garbage 6:garbage 7:garbage 8:garbage 9:garbage ");
  EXPECT_THROW(read("a,b\n"), Error);
}

TEST(PublishedRows, RepetitionsAndOtherUnitsAreHeldOut) {
  const auto table = read(good(1, 100) + good(1, 100) + "o/r@1:f,m,p,d,V100,16,8,1,fp32,,5,GB/s busbw,\n" +
                          "o/r@1:f,m,p,d,V100,16,8,1,fp32,,5,images/s,SUSPECT; x\n" +
                          "mlcommons/x@1:f,m,p,d,V100,16,8,1,fp32,,5,images/s,\n");
  EXPECT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(kinds(table), "3:duplicate 4:not_throughput 5:suspect 6:changes_batch ");
}

TEST(PublishedRows, ASpeedUpBeyondTheCountIsHeldOut) {
  EXPECT_EQ(kinds(read(good(1, 100) + good(2, 190) + good(4, 380) + good(8, 1900))), "5:faster_than_its_gpus ");
  EXPECT_EQ(kinds(read(good(1, 20) + good(2, 190) + good(4, 380) + good(8, 760))), "2:faster_than_its_gpus ");
  EXPECT_EQ(kinds(read(good(1, 100) + good(2, 210) + good(4, 420))), "");  // noise
}

TEST(PublishedRows, FiftyTimesItsNeighboursIsHeldOut) {
  EXPECT_EQ(kinds(read(good(1, 100) + good(2, 190) + good(4, 4 * 95 * 60.0) + good(8, 760))), "4:far_from_neighbours ");
  EXPECT_EQ(kinds(read(good(1, 100) + good(2, 190) + good(4, 4) + good(8, 760))), "4:far_from_neighbours ");
}

TEST(NotesText, WhatIdentifiesAConfiguration) {
  EXPECT_EQ(configuration_of("o/r", "AMP; step_time_s=0.5; mean of 3 runs; ngc=20.03"), "AMP ngc=20.03");
  EXPECT_EQ(configuration_of("lambdal/x", "machine=a; pytorch=1"), "pytorch=1");
  EXPECT_EQ(without_batch("x batch=64 y section=a b; z"), "x  y ; z");
  EXPECT_EQ(without_precision("AMP xla=on rest"), "rest");
  EXPECT_EQ(file_without_precision("a/resnet_FP16.md"), "a/resnet.md");
  EXPECT_EQ(repository_of("o/r@12:path"), "o/r");
  EXPECT_EQ(file_of("o/r@12:path (x)"), "path (x)");
  EXPECT_EQ(without_gpu_count("a_4_gpus_b"), "a_b");
}

TEST(GpuNames, FormsAndMemory) {
  const auto catalog = cloud::load_catalog();
  EXPECT_EQ(gpu_named(catalog, "V100", "32")->name, "V100-SXM2-32GB");
  EXPECT_EQ(gpu_named(catalog, "A100", "")->name, "A100-SXM4-40GB");
  EXPECT_EQ(gpu_named(catalog, "T4", "16")->name, "T4");
  EXPECT_EQ(gpu_named(catalog, "Toy 9000", "16"), nullptr);
}

}  // namespace
}  // namespace gpusizer::import
