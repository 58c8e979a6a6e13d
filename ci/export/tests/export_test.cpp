// SPDX-License-Identifier: Apache-2.0
// Each export format against a small golden text, and what all formats must keep.
#include "ci/export/export.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ci/compare/compare.hpp"
#include "ci/compare/tests/compare_reports.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::ci {
namespace {

using nlohmann::json;

ExportInput small() {
  record::Report report = report_with(0.1, 1);
  report.created_utc = "2026-01-31T12:00:00Z";
  report.tool.git_commit = "c0ffee";
  report.cases[0].config.device = "Example CPU";
  return {{report}, std::nullopt};
}

std::string text_of(const std::string& format, const ExportInput& input = small(), std::size_t file = 0) {
  return exported(export_format_named(format), input).at(file).text;
}

ExportInput regressed() {
  ExportInput input{reports_of(kSlowerMs, 50), std::nullopt};
  input.comparison = compare(reports_of(kHistoryMs), input.reports, built_in_rules());
  return input;
}

TEST(Export, GithubActionBenchmarkIsTwoFilesByDirection) {
  const json bigger = json::parse(text_of("github-action-benchmark", small(), 0)), smaller = json::parse(text_of("github-action-benchmark", small(), 1));
  ASSERT_EQ(bigger.size(), 1u);
  EXPECT_EQ(bigger[0]["name"], "a/throughput");
  EXPECT_EQ(bigger[0]["value"], 1000.0);
  EXPECT_EQ(bigger[0]["range"], "± 10");
  EXPECT_EQ(smaller[0]["name"], "a/step_seconds");
  EXPECT_EQ(smaller[0]["unit"], "s");
}

TEST(Export, Bencher) {
  const json tree = json::parse(text_of("bencher"));
  EXPECT_EQ(tree.dump(), R"({"a":{"step_seconds":{"lower_value":0.099,"upper_value":0.101,"value":0.1},"throughput":{"lower_value":990.0,"upper_value":1010.0,"value":1000.0}}})");
}

TEST(Export, OpenMetrics) {
  EXPECT_EQ(text_of("openmetrics"),
            "# HELP gpusizer_step_seconds step_seconds in s, lower is better.\n# TYPE gpusizer_step_seconds gauge\n# UNIT gpusizer_step_seconds seconds\n"
            "gpusizer_step_seconds{case=\"a\",commit=\"c0ffee\",device=\"Example CPU\",model=\"resnet8\",precision=\"fp32\",provenance=\"measured\"} 0.1\n"
            "# HELP gpusizer_throughput_images_per_second throughput in images/s, higher is better.\n# TYPE gpusizer_throughput_images_per_second gauge\n"
            "# UNIT gpusizer_throughput_images_per_second images_per_second\n"
            "gpusizer_throughput_images_per_second{case=\"a\",commit=\"c0ffee\",device=\"Example CPU\",model=\"resnet8\",precision=\"fp32\",provenance=\"measured\"} 1000\n"
            "# HELP gpusizer_run_timestamp_seconds When the run was made, since 1970.\n# TYPE gpusizer_run_timestamp_seconds gauge\n# UNIT gpusizer_run_timestamp_seconds seconds\n"
            "gpusizer_run_timestamp_seconds{case=\"a\",commit=\"c0ffee\",device=\"Example CPU\",model=\"resnet8\",precision=\"fp32\",provenance=\"measured\"} 1769860800\n# EOF\n");
  EXPECT_EQ(text_of("prometheus").find("# EOF"), std::string::npos);
}

TEST(Export, Influx) {
  EXPECT_EQ(text_of("influx").substr(0, text_of("influx").find('\n')),
            "gpusizer,case=a,device=Example\\ CPU,metric=step_seconds,model=resnet8,provenance=measured,unit=s value=0.1,commit=\"c0ffee\" 1769860800000000000");
}

TEST(Export, PyTorchAndGoogleBenchmark) {
  const json hud = json::parse(text_of("pytorch"));
  EXPECT_EQ(hud[1]["metric"]["benchmark_values"][0], 1000.0);
  EXPECT_EQ(hud[1]["model"]["name"], "resnet8");
  const json google = json::parse(text_of("google-benchmark"));
  EXPECT_EQ(google["context"]["json_schema_version"], 1);
  EXPECT_EQ(google["benchmarks"][0]["real_time"], 0.1);
  EXPECT_EQ(google["benchmarks"][0]["items_per_second"], 1000.0);
}

TEST(Export, JUnitFailsWhatRegressed) {
  const std::string text = text_of("junit", regressed());
  EXPECT_NE(text.find("tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\""), std::string::npos) << text;
  EXPECT_NE(text.find("type=\"PerformanceRegression\""), std::string::npos);
  EXPECT_NE(text_of("junit").find("skipped=\"2\""), std::string::npos);
}

TEST(Export, GitlabAndOtava) {
  EXPECT_EQ(text_of("gitlab-metrics"), "gpusizer_step_seconds{case=\"a\"} 0.100\ngpusizer_throughput_images_per_second{case=\"a\"} 1000\n# EOF\n");
  EXPECT_EQ(text_of("otava"), "time,commit,a/step_seconds,a/throughput\n2026-01-31T12:00:00Z,c0ffee,0.1,1000\n");
}

TEST(Export, AnnotationsAreAtMostTen) {
  ExportInput input = regressed();
  const Judgement worst = input.comparison->judgements[0];
  for (int i = 0; i < 30; ++i) input.comparison->judgements.push_back(worst);
  const std::string text = text_of("github-annotations", input);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_NE(text.find("and 23 more"), std::string::npos) << text;
}

TEST(Export, ASummaryOfFiveThousandMetricsFits) {
  ExportInput input = regressed();
  Judgement quiet = input.comparison->judgements[0];
  quiet.verdict = Verdict::unchanged;
  quiet.case_id = std::string(200, 'x');
  for (int i = 0; i < 5000; ++i) input.comparison->judgements.push_back(quiet);
  const std::string text = text_of("summary", input);
  EXPECT_LT(text.size(), 900'000u);
  EXPECT_NE(text.find("more figures were left out"), std::string::npos);
  EXPECT_NE(text.find("| regressed |"), std::string::npos);
}

// Over the whole table: hostile names stay inside their quotes, tokens do not come out, the empty input is no crash.
TEST(Export, EveryFormatSurvivesAStranger) {
  const std::string token = "ghp_0123456789abcdefABCDEF0123456789abcd";
  ExportInput hostile = small();
  record::Case& run = hostile.reports[0].cases[0];
  run.id = "=cmd|' \"<script>,\n::error::\\ " + token;
  run.config.device = "x\"} 1\n# EOF\n" + token;
  hostile.reports[0].tool.git_commit = "Bearer " + token;
  hostile.reports[0].command_line = "gpusizer run --data https://user:" + token + "@example.org";
  hostile.reports[0].environment.variables["GITHUB_TOKEN"] = token;
  for (const ExportFormat& format : export_formats()) {
    for (const ExportFile& file : exported(format, hostile)) {
      EXPECT_EQ(file.text.find("0123456789abcdefABCDEF"), std::string::npos) << format.name;
      if (format.extension == ".json") {
        EXPECT_FALSE(json::parse(file.text, nullptr, false).is_discarded()) << format.name;
      }
    }
    EXPECT_NO_THROW(exported(format, {})) << format.name;
  }
  EXPECT_EQ(text_of("influx", hostile).find("\n::error"), std::string::npos);
  EXPECT_EQ(text_of("junit", hostile).find("<script>"), std::string::npos);
}

TEST(Export, AnUnknownFormatIsRefused) { EXPECT_THROW(export_format_named("xml"), Error); }

}  // namespace
}  // namespace gpusizer::ci
