// SPDX-License-Identifier: Apache-2.0
// Reports to JSON and back: nothing is lost, nothing is invented.
#include "reports/record/json.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

#include "gpusizer/error.hpp"
#include "reports/record/atomic_file.hpp"
#include "reports/record/tests/example_report.hpp"

namespace gpusizer::record {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// To renew the file after a wanted change: GPUSIZER_RENEW_GOLDEN=1 gpusizer_record_tests --gtest_filter='*Golden*'
TEST(Json, GoldenFile) {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "golden/example_report.json";
  const std::string text = to_json(example_report());
  if (std::getenv("GPUSIZER_RENEW_GOLDEN")) write_file_atomically(path, text);
  EXPECT_EQ(text, read_whole_file(path, 1u << 20));
}

TEST(Json, RoundTripKeepsEverything) {
  const Report report = example_report();
  const std::string text = to_json(report);
  const Report again = report_from_json(text, "r.json");
  EXPECT_EQ(again, report);
  EXPECT_EQ(to_json(again), text);
}

TEST(Json, DoublesComeBackBitForBit) {
  Report report = example_report();
  auto& curve = report.cases[0].training.loss_curve;
  curve.clear();
  const double hard[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789012345680.0, 2.0, 9007199254740993.0,
                         5.0e-7, 1e22, 0.30000000000000004};
  for (const double value : hard) curve.push_back({1, value, {}});
  const Report again = report_from_json(to_json(report), "r.json");
  EXPECT_EQ(again.cases[0].training.loss_curve, curve);
}

TEST(Json, DoublesAreWrittenShortest) {
  Report report = example_report();
  report.cases[0].training.final_loss = 0.1 + 0.2;
  EXPECT_NE(to_json(report).find("\"final_loss\": 0.30000000000000004,"), std::string::npos);
  report.cases[0].training.final_loss = 5e-324;
  EXPECT_NE(to_json(report).find("\"final_loss\": 5e-324,"), std::string::npos);
  report.cases[0].training.final_loss = 2.0;
  EXPECT_NE(to_json(report).find("\"final_loss\": 2.0,"), std::string::npos);
}

TEST(Json, TheLargestSeedSurvives) {
  Report report = example_report();
  report.cases[0].config.seed = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(report_from_json(to_json(report), "r.json").cases[0].config.seed, report.cases[0].config.seed);
}

TEST(Json, AMissingNumberIsNullWithItsReason) {
  Report report = example_report();
  report.cases[0].memory.peak_rss_bytes = Maybe<std::int64_t>::missing("/proc is not mounted");
  const std::string text = to_json(report);
  EXPECT_NE(text.find("\"peak_rss_bytes\": null"), std::string::npos);
  EXPECT_NE(text.find("\"peak_rss_bytes\": \"/proc is not mounted\""), std::string::npos);
  EXPECT_EQ(report_from_json(text, "r.json"), report);
}

TEST(Json, ALossThatIsNotFiniteBecomesNull) {
  Report report = example_report();
  report.cases[0].training.loss_curve[1].loss = std::numeric_limits<double>::quiet_NaN();
  const auto loss = report_from_json(to_json(report), "r.json").cases[0].training.loss_curve[1].loss;
  EXPECT_FALSE(loss);
  EXPECT_EQ(loss.null_reason(), "the value was not finite");
}

TEST(Json, UnknownFieldsAreKeptAtEveryLevel) {
  const std::string text = to_json(example_report());
  std::string richer = replaced(text, "\"status\": \"interrupted\",",
                                "\"status\": \"interrupted\", \"weather\": {\"sun\": [1, 2.50, null, \"é\"]},");
  richer = replaced(richer, "\"model\": \"resnet8\",", "\"model\": \"resnet8\", \"colour\": true,");
  richer = replaced(richer, "\"peak_rss_bytes\": 181403648",
                    "\"peak_rss_bytes\": 181403648, \"peak_host_bytes\": null, "
                    "\"null_reasons\": {\"peak_host_bytes\": \"a later field\"}");
  const std::string again = to_json(report_from_json(richer, "r.json"));
  EXPECT_NE(again.find("\"weather\": {\n    \"sun\": [1, 2.5, null, \"é\"]\n  }"), std::string::npos) << again;
  EXPECT_NE(again.find("\"colour\": true"), std::string::npos);
  EXPECT_NE(again.find("\"peak_host_bytes\": null"), std::string::npos);
  EXPECT_NE(again.find("\"peak_host_bytes\": \"a later field\""), std::string::npos);
  EXPECT_EQ(to_json(report_from_json(again, "r.json")), again);
}

TEST(Json, AFieldThatAnOlderVersionDidNotHaveIsMissing) {
  const std::string text = replaced(to_json(example_report()), "    \"data_wait_seconds\": 0.004,\n", "");
  const auto wait = report_from_json(text, "r.json").cases[0].measurement.data_wait_seconds;
  EXPECT_FALSE(wait);
  EXPECT_EQ(wait.null_reason(), "not in the report");
}

TEST(Json, TextThatIsNotUtf8IsWrittenAsReadableJson) {
  Report report = example_report();
  report.command_line = "gpusizer run --data /\xff\xfe";
  EXPECT_EQ(report_from_json(to_json(report), "r.json").command_line, "gpusizer run --data /\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Json, AReportThatBreaksARuleIsNotWritten) {
  Report report = example_report();
  report.cases[0].throughput.value = 600;  // 1000 samples in 2 s are 500/s
  report.cases[0].throughput.high = 700;
  try {
    to_json(report);
    FAIL() << "was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::failed);
    EXPECT_EQ(error.where(), "/cases/0/throughput/value");
  }
}

}  // namespace
}  // namespace gpusizer::record
