// SPDX-License-Identifier: Apache-2.0
// Tests of the sizing answer in all its forms: golden files, widths, words for money, and text that is not to be
// trusted.
#include "reports/render/advice.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/render/advice_words.hpp"
#include "reports/render/tests/expect_golden.hpp"
#include "reports/render/text.hpp"
#include "reports/sizing/tests/example_reports.hpp"

namespace gpusizer::render {
namespace {

// Eight A100 and a T4 on one workload, a CPU run on another, one case that must not be used.
sizing::Advice example_advice(bool limits, bool spot) {
  std::vector<sizing::ReportInput> reports = {
      sizing::example_report({sizing::example_gpu_case("NVIDIA A100-SXM4-40GB", 8, 20000, 200)}),
      sizing::example_report({sizing::example_gpu_case("Tesla T4", 1, 500, 5)}),
      sizing::example_report(
          {sizing::example_case("resnet8", 64, 1000, 10), sizing::example_case("resnet8", 16, 700, 10),
           sizing::example_case("resnet18", 64, 100, 1)},
          "c7i.xlarge")};
  record::Case& stopped = reports[2].report.cases[2];
  stopped.status = record::CaseStatus::interrupted;
  stopped.reason = "SIGTERM arrived";
  sizing::Goal goal = sizing::example_goal();
  goal.include_spot = spot;
  if (limits) goal.deadline_seconds = 7200, goal.budget_usd = 40;
  return sizing::advise(reports, sizing::example_catalog(), goal);
}

TEST(AdviceText, GoldenFiles) {
  expect_golden(advice_terminal(example_advice(false, false), {100, false}), "advice_terminal.txt");
  expect_golden(advice_terminal(example_advice(true, true), {100, false}), "advice_terminal_limits.txt");
  expect_golden(advice_markdown(example_advice(true, false)), "advice_markdown.txt");
  expect_golden(advice_json(example_advice(true, false)), "advice_json.txt");
}

TEST(AdviceText, TablesFitAHundredColumns) {
  for (const bool limits : {false, true}) {
    const std::string text = advice_terminal(example_advice(limits, true), {100, false});
    std::istringstream lines(text.substr(0, text.rfind("\n\n")));  // without the closing sentences
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100u) << line;
  }
}

TEST(AdviceText, EndsWithTheDatedCostOfAnEpoch) {
  const std::string text = advice_terminal(example_advice(false, false), {100, false});
  EXPECT_TRUE(text.ends_with(
      "cheapest: c7i.xlarge us-east-1, $0.0635 per epoch (on-demand $0.1785/h, AWS, as of 2026-07-20)\n"));
}

TEST(AdviceText, SaysWhenThereIsNoAnswer) {
  const std::vector<sizing::ReportInput> reports = {
      sizing::example_report({sizing::example_case("resnet8", 64, 1000, 10)})};
  const sizing::Advice advice = sizing::advise(reports, sizing::example_catalog(), sizing::example_goal());
  EXPECT_TRUE(advice_terminal(advice, {100, false})
                  .ends_with("no answer: the reports hold no figure that may be used for an instance\n"));
  EXPECT_NE(advice_markdown(advice).find("no answer"), std::string::npos);
  EXPECT_NE(advice_terminal(advice, {100, false}).find("--as"), std::string::npos);
}

TEST(AdviceText, NoPriceIsNeverZeroDollars) {
  const sizing::Advice advice = example_advice(true, false);
  for (const std::string& text : {advice_terminal(advice, {}), advice_markdown(advice), advice_json(advice)}) {
    EXPECT_EQ(text.find("$0 "), std::string::npos);
    EXPECT_NE(text.find("only a spot price is known"), std::string::npos);
  }
  const nlohmann::json json = nlohmann::json::parse(advice_json(advice));
  const nlohmann::json& unpriced = json["workloads"][0]["offers"].back();
  EXPECT_EQ(unpriced["instance"], "BM.GPU4.8");
  EXPECT_TRUE(unpriced["price"].is_null() && unpriced["epoch_usd"].is_null() && unpriced["total_usd"].is_null());
}

TEST(AdviceText, JsonHoldsTheFiguresInFull) {
  const nlohmann::json json = nlohmann::json::parse(advice_json(example_advice(true, false)));
  const nlohmann::json& offer = json["workloads"][0]["offers"][0];
  EXPECT_EQ(json["schema"], "gpusizer.advice/1");
  EXPECT_DOUBLE_EQ(offer["epoch_usd"]["value"], 1'281'167.0 / 500 * 0.526 / 3600);
  EXPECT_EQ(offer["price"]["as_of"], "2026-07-20");
  EXPECT_EQ(json["set_aside"][0]["reason"], "interrupted: SIGTERM arrived");
}

TEST(AdviceText, UntrustedTextCannotSteerTheTerminalOrTheMarkup) {
  sizing::Advice advice = example_advice(false, false);
  const std::string evil = "\x1b[2J|<script>\n# x";
  advice.set_aside[0].reason = evil;
  advice.workloads[0].workload.model = evil;
  advice.workloads[0].offers[0].instance.name = evil;
  advice.workloads[0].offers[0].price->source = evil;
  const std::string terminal = advice_terminal(advice, {100, false}), markdown = advice_markdown(advice);
  EXPECT_EQ(terminal.find('\x1b'), std::string::npos);
  EXPECT_EQ(markdown.find('\x1b'), std::string::npos);
  EXPECT_EQ(markdown.find("<script>"), std::string::npos);
  EXPECT_EQ(markdown.find("\n# x"), std::string::npos);
  advice.workloads[0].workload.model = "\xff\xfe";
  EXPECT_NO_THROW(nlohmann::json::parse(advice_json(advice)));
}

TEST(AdviceWords, Numbers) {
  EXPECT_EQ(number_words(1281167), "1,281,167");
  EXPECT_EQ(number_words(20000.4), "20,000");
  EXPECT_EQ(number_words(999.96), "1,000");
  EXPECT_EQ(number_words(123.46), "123.5");
  EXPECT_EQ(number_words(14.234), "14.23");
  EXPECT_EQ(number_words(0.0123), "0.01230");
}

TEST(AdviceWords, ExtremesHaveAnExponent) {
  EXPECT_EQ(number_words(1e15), "1e+15");
  EXPECT_EQ(number_words(1e-12), "1e-12");
  EXPECT_EQ(usd_words(2.5e16), "$2.5e+16");
  EXPECT_EQ(usd_words(1e-12), "$1e-12");
  EXPECT_EQ(duration_words(8.64e20), "1e+16 d");
}

TEST(AdviceWords, Money) {
  EXPECT_EQ(usd_words(1310.8), "$1,310.80");
  EXPECT_EQ(usd_words(35.166), "$35.17");
  EXPECT_EQ(usd_words(0.9999), "$1.00");
  EXPECT_EQ(usd_words(0.58311), "$0.583");
  EXPECT_EQ(usd_words(0.0123), "$0.0123");
  EXPECT_EQ(usd_words(0.0000123), "$0.0000123");
}

TEST(AdviceWords, Durations) {
  EXPECT_EQ(duration_words(64.058), "64.1 s");
  EXPECT_EQ(duration_words(0.5), "0.500 s");
  EXPECT_EQ(duration_words(5400), "90.0 min");
  EXPECT_EQ(duration_words(86400), "24.0 h");
  EXPECT_EQ(duration_words(864000), "10.0 d");
  EXPECT_EQ(duration_words(1e10), "115,740.7 d");
}

}  // namespace
}  // namespace gpusizer::render
