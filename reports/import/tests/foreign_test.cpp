// SPDX-License-Identifier: Apache-2.0
// Formats of other tools: what comes out, what is held out, what is refused.
#include "reports/import/foreign.hpp"

#include <gtest/gtest.h>

#include "gpusizer/error.hpp"
#include "reports/record/json.hpp"

namespace gpusizer::import {
namespace {

ForeignNames names() {
  ForeignNames one;
  one.origin = "file", one.source = "somebody 2024", one.created_utc = "2026-01-31T12:00:00Z";
  one.gpu = "A100-SXM4-80GB", one.devices = 8;
  return one;
}

record::Report read(const char* format, std::string_view text) {
  record::Report report = import_foreign(format, text, names());
  EXPECT_EQ(report.provenance, record::Provenance::published);
  EXPECT_EQ(record::report_from_json(record::to_json(report), "again"), report);
  return report;
}

TEST(Foreign, MllogByTrackedThroughputOrBySamples) {
  const auto tracked = read("mllog",
      "x :::MLLOG {\"key\": \"submission_benchmark\", \"value\": \"resnet\", \"time_ms\": 1}\n"
      ":::MLLOG {\"key\": \"global_batch_size\", \"value\": 3200, \"time_ms\": 1}\n"
      ":::MLLOG {\"key\": \"run_start\", \"value\": null, \"time_ms\": 1000}\n"
      ":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"throughput\": 20000}, \"metadata\": {\"step\": 1}, \"time_ms\": 9}\n"
      ":::MLLOG {\"key\": \"run_stop\", \"value\": null, \"metadata\": {\"status\": \"success\"}, \"time_ms\": 61000}\n");
  EXPECT_EQ(*tracked.cases[0].throughput.value, 20000);
  EXPECT_EQ(tracked.cases[0].config.batch_per_replica, 400);
  EXPECT_EQ(tracked.cases[0].config.model, "resnet");
  const auto counted = read("mllog",
      ":::MLLOG {\"key\": \"run_start\", \"time_ms\": 1000}\n"
      ":::MLLOG {\"key\": \"eval_accuracy\", \"value\": 0.7, \"metadata\": {\"samples_count\": 600000}, \"time_ms\": 9}\n"
      ":::MLLOG {\"key\": \"run_stop\", \"metadata\": {\"status\": \"success\"}, \"time_ms\": 61000}\n");
  EXPECT_EQ(*counted.cases[0].throughput.value, 10000);
}

TEST(Foreign, MllogWithStepsThatCannotHaveRunIsHeldOut) {
  const auto report = read("mllog",
      ":::MLLOG {\"key\": \"run_start\", \"time_ms\": 1000}\n"
      ":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"throughput\": 100}, \"time_ms\": 9}\n"
      ":::MLLOG {\"key\": \"eval_accuracy\", \"value\": 0.7, \"metadata\": {\"samples_count\": 600000}, \"time_ms\": 9}\n"
      ":::MLLOG {\"key\": \"run_stop\", \"time_ms\": 61000}\n");
  EXPECT_EQ(report.cases[0].status, record::CaseStatus::invalid);
  EXPECT_EQ(report.cases[0].validity_flags[0].id, "impossible_steps");
  EXPECT_THROW(read("mllog", "nothing"), Error);
}

TEST(Foreign, NcclTests) {
  const auto report = read("nccl-tests",
      "#  Rank  0 Group  0 Pid  1 on h device  0 [0x07] NVIDIA A100-SXM4-80GB\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
      "   134217728      33554432     float     sum      -1   1349.5   99.46  174.05      0   1348.1   99.56  174.23      0\n"
      "# Avg bus bandwidth    : 174\n");
  ASSERT_EQ(report.cases[0].metrics.size(), 2U);
  EXPECT_EQ(report.cases[0].status, record::CaseStatus::ok);
  EXPECT_EQ(report.cases[0].metrics[0].id, "bus_bytes_per_second/134217728");
  EXPECT_NEAR(*report.cases[0].metrics[0].value, 174.05e9, 1e3);
  const auto wrong = read("nccl-tests", "134217728 33554432 float sum -1 13.5 99.46 174.05 0 1348.1 99.56 174.23 0\n");
  EXPECT_EQ(wrong.cases[0].status, record::CaseStatus::invalid);
  EXPECT_THROW(read("nccl-tests", "# nothing\n"), Error);
}

TEST(Foreign, DlloggerTakesTheSummary) {
  const auto report = read("dllogger",
      "DLLL {\"timestamp\": \"1\", \"type\": \"LOG\", \"step\": [0, 1], \"data\": {\"train.total_ips\": 2400.0}}\n"
      "DLLL {\"timestamp\": \"1\", \"type\": \"LOG\", \"step\": [0, 2], \"data\": {\"val.total_ips\": 9999.0}}\n"
      "DLLL {\"timestamp\": \"2\", \"type\": \"LOG\", \"step\": [], \"data\": {\"train.total_ips\": 2500.0}}\n");
  EXPECT_EQ(*report.cases[0].throughput.value, 2500);
  EXPECT_EQ(report.cases[0].throughput.unit, "images/s");
  const auto odd = read("dllogger",
      "DLLL {\"type\": \"LOG\", \"step\": [0, 1], \"data\": {\"throughput_train\": 24.0}}\n"
      "DLLL {\"type\": \"LOG\", \"step\": [], \"data\": {\"throughput_train\": 2500.0}}\n");
  EXPECT_EQ(odd.cases[0].validity_flags[0].id, "far_from_neighbours");
  EXPECT_THROW(read("dllogger", "DLLL {broken\n"), Error);
}

TEST(Foreign, GoogleBenchmarkKeepsRepetitions) {
  const auto report = read("google-benchmark",
      "{\"context\": {}, \"benchmarks\": [{\"name\": \"gemm/1024\", \"run_type\": \"iteration\", \"real_time\": 2.5, \"time_unit\": \"ms\"},"
      "{\"name\": \"gemm/1024\", \"run_type\": \"iteration\", \"real_time\": 3.5, \"time_unit\": \"ms\", \"items_per_second\": 4},"
      "{\"name\": \"gemm/1024_mean\", \"run_type\": \"aggregate\", \"real_time\": 3, \"time_unit\": \"ms\"}]}");
  ASSERT_EQ(report.cases.size(), 1U);
  EXPECT_EQ(report.cases[0].metrics[0].samples.size(), 2U);
  EXPECT_NEAR(*report.cases[0].metrics[0].value, 3.5e-3, 1e-12);
  EXPECT_THROW(read("google-benchmark", "[]"), Error);
}

TEST(Foreign, CsvRowsBecomeCasesAndOddOnesAreInvalid) {
  const auto report = read("csv",
      "source,model,framework,dataset,gpu,gpu_mem_gb,gpus,nodes,precision,batch_per_gpu,throughput,unit,notes\n"
      "o/r@1:f,m,p,d,V100,16,1,1,fp32,8,100,images/s,\no/r@1:f,m,p,d,V100,16,2,1,fp32,8,190,images/s,\n"
      "o/r@1:f,m,p,d,V100,16,4,1,fp32,8,900,images/s,\n");
  ASSERT_EQ(report.cases.size(), 3U);
  EXPECT_EQ(*report.cases[1].throughput.value, 190);
  EXPECT_EQ(report.cases[1].throughput.provenance, record::Provenance::published);
  EXPECT_EQ(report.cases[2].status, record::CaseStatus::invalid);
  EXPECT_EQ(report.cases[0].unknown[0].second, "\"o/r@1:f\"");
}

TEST(Foreign, UnknownFormat) { EXPECT_THROW(import_foreign("cvs", "", names()), Error); }

}  // namespace
}  // namespace gpusizer::import
