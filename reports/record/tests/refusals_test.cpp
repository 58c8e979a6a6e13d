// SPDX-License-Identifier: Apache-2.0
// Every report that must be refused, with the place that the message names.
#include <gtest/gtest.h>

#include <string>

#include "gpusizer/error.hpp"
#include "reports/record/json.hpp"
#include "reports/record/tests/example_report.hpp"

namespace gpusizer::record {
namespace {

struct Refusal {
  const char* name;
  const char* from;  // this text of the good report, whose first occurrence
  const char* to;    // is replaced by this one
  const char* what;  // must be part of the message
  const char* where;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, NamesFileAndPlace) {
  const Refusal& refusal = GetParam();
  std::string text = to_json(example_report());
  const auto at = text.find(refusal.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(refusal.from).size(), refusal.to);
  try {
    report_from_json(text, "r.json");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::input);
    EXPECT_NE(error.problem().find(refusal.what), std::string::npos) << error.problem();
    EXPECT_EQ(error.where().rfind("r.json, ", 0), 0u) << error.where();
    EXPECT_TRUE(error.where().ends_with(refusal.where)) << error.where();
  }
}

constexpr Refusal refusals[] = {
    {"NewerMajor", "gpusizer.report/1", "gpusizer.report/2", "newer format", "at /schema"},
    {"MajorZero", "gpusizer.report/1", "gpusizer.report/0", "not a gpusizer report", "at /schema"},
    {"MajorWithTail", "gpusizer.report/1", "gpusizer.report/1x", "not a gpusizer report", "at /schema"},
    {"OtherSchema", "gpusizer.report/1", "other.report/1", "not a gpusizer report", "at /schema"},
    {"NoSchema", "\"schema\"", "\"shema\"", "names no schema", "at /schema"},
    {"NaN", "\"final_loss\": 0.1", "\"final_loss\": NaN", "NaN", "at /cases/0/training/final_loss"},
    {"LowerNan", "\"final_loss\": 0.1", "\"final_loss\": nan", "NaN", "at /cases/0/training/final_loss"},
    {"Infinity", "\"final_loss\": 0.1", "\"final_loss\": Infinity", "NaN", "at /cases/0/training/final_loss"},
    {"MinusInfinity", "\"final_loss\": 0.1", "\"final_loss\": -Infinity", "NaN", "at /cases/0/training/final_loss"},
    {"NumberOutOfRange", "\"final_loss\": 0.1", "\"final_loss\": 1e999", "out of range",
     "at /cases/0/training/final_loss"},
    {"DuplicateKey", "\"seed\": 42", "\"seed\": 42, \"seed\": 42", "given twice", "at /cases/0/config/seed"},
    {"DuplicateUnknownKey", "\"seed\": 42", "\"seed\": 42, \"x\": {\"a/b\": 1, \"a/b\": 1}", "given twice",
     "at /cases/0/config/x/a~1b"},
    {"DuplicateCaseId", "resnet50/synthetic/b4096/fp32/cpu", "resnet8/fashion-mnist/b100/fp32/cpu", "two cases",
     "at /cases/1/id"},
    {"DuplicateMetric", "\"id\": \"accuracy\"", "\"id\": \"throughput\"", "two metrics", "at /cases/0/metrics/1/id"},
    {"EmptyCaseId", "\"id\": \"resnet8/fashion-mnist/b100/fp32/cpu\"", "\"id\": \"\"", "empty", "at /cases/0/id"},
    {"TextForNumber", "\"seed\": 42", "\"seed\": \"42\"", "whole number", "at /cases/0/config/seed"},
    {"FractionForCount", "\"samples\": 1000,", "\"samples\": 1000.5,", "whole number", "at /cases/0/measurement/samples"},
    {"ObjectForList", "\"cpu_flags\": [", "\"cpu_flags\": {}, \"x\": [", "list", "at /environment/cpu_flags"},
    {"ListForObject", "\"tool\": {", "\"tool\": [], \"x\": {", "object", "at /tool"},
    {"NumberInTextList", "\"cpu_flags\": [\"avx2\"", "\"cpu_flags\": [2", "text", "at /environment/cpu_flags/0"},
    {"UnknownStatus", "\"status\": \"ok\"", "\"status\": \"fine\"", "ok, failed, oom", "at /cases/0/status"},
    {"MissingField", "\"seed\"", "\"sead\"", "\"seed\" is missing", "at /cases/0/config"},
    {"NegativeCount", "\"samples\": 1000,", "\"samples\": -1000,", "negative", "at /cases/0/measurement/samples"},
    {"NegativeSeed", "\"seed\": 42", "\"seed\": -1", "at least 0", "at /cases/0/config/seed"},
    {"NegativeBytes", "\"peak_rss_bytes\": 181403648", "\"peak_rss_bytes\": -1", "negative",
     "at /cases/0/memory/peak_rss_bytes"},
    {"NegativeParameters", "\"parameters\": 77850", "\"parameters\": -1", "negative", "at /cases/0/facts/parameters"},
    {"HugeCount", "\"samples\": 1000,", "\"samples\": 18446744073709551615,", "too large",
     "at /cases/0/measurement/samples"},
    {"ZeroStepTime", "0.25, 0.125", "0, 0.125", "above 0", "at /cases/0/measurement/step_seconds/0"},
    {"StepsDoNotAddUp", "\"measured_steps\": 10", "\"measured_steps\": 11", "number of recorded",
     "at /cases/0/measurement/measured_steps"},
    {"ThroughputNotCounted", "\"value\": 500.0", "\"value\": 505.0", "samples divided by",
     "at /cases/0/throughput/value"},
    {"ZeroThroughput", "\"value\": 500.0,\n        \"low\": 491.25", "\"value\": 0, \"low\": 0", "not above 0", "at /cases/0/throughput/value"},
    {"LowAboveValue", "\"low\": 491.25", "\"low\": 501.25", "above the value", "at /cases/0/throughput/low"},
    {"NegativeLow", "\"low\": 491.25", "\"low\": -1.0", "negative", "at /cases/0/throughput/low"},
    {"MoreSamplesThanBatches", "\"samples\": 1000,", "\"samples\": 1001,", "batch_per_replica",
     "at /cases/0/measurement/samples"},
    {"TimeIsNotTheSteps", "\"measured_seconds\": 2.0", "\"measured_seconds\": 1.0", "sum of the step times",
     "at /cases/0/measurement/measured_seconds"},
    {"NullWithoutReason", "\"final_loss\": 0.1", "\"final_loss\": null", "needs its reason",
     "at /cases/0/training/final_loss"},
    {"ThroughputNullWithoutReason", "\"low\": 491.25", "\"low\": null", "must say why",
     "at /cases/0/throughput/null_reason"},
    {"AccuracyInPercent", "\"accuracy\": 0.9123", "\"accuracy\": 91.23", "share", "at /cases/0/training/accuracy"},
    {"NoReason", "\"reason\": \"the plan", "\"reason\": \"\", \"x\": \"the plan", "says why", "at /cases/1/reason"},
    {"ZeroBatch", "\"batch_per_replica\": 100", "\"batch_per_replica\": 0", "below 1",
     "at /cases/0/config/batch_per_replica"},
    {"MoreReplicasThanDevices", "\"replicas\": 1", "\"replicas\": 2", "between 1", "at /cases/0/config/replicas"},
    {"BadHash", "\"identity_hash\": \"", "\"identity_hash\": \"x", "hexadecimal",
     "at /cases/0/fingerprint/identity_hash"},
    {"BadTime", "2026-01-31T12:01:30Z", "31.1.2026", "not a time", "at /created_utc"},
    {"TrailingText", "{\n  \"schema\"", "{} {\n  \"schema\"", "not valid JSON", "at the top"},
    {"Comment", "\"seed\": 42", "\"seed\": /* six times seven */ 42", "not valid JSON", "at /cases/0/config/seed"},
};

INSTANTIATE_TEST_SUITE_P(Reports, Refused, testing::ValuesIn(refusals),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

std::string message_for(const std::string& text) {
  try {
    report_from_json(text, "r.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "was read";
}

TEST(Refusals, NamesTheByteWhereItIsCutOff) {
  EXPECT_EQ(message_for("{\"schema\": \"gpus"), "the report is cut off: it ends in the middle (r.json, byte 16, at /schema)");
  EXPECT_EQ(message_for(""), "the report is cut off: it ends in the middle (r.json, byte 0, at the top)");
}

TEST(Refusals, NamesTheByteOfAnError) {
  EXPECT_EQ(message_for("{\"a\": [1, x]}"), "the report is not valid JSON (r.json, byte 10, at /a/1)");
}

TEST(Refusals, OtherJsonIsNotAReport) {
  EXPECT_NE(message_for("[]").find("an object was expected"), std::string::npos);
  EXPECT_NE(message_for("null").find("an object was expected"), std::string::npos);
  EXPECT_NE(message_for("{\"schema\": 1}").find("names no schema"), std::string::npos);
}

TEST(Refusals, NestingHasALimit) {
  const std::string lists(100'000, '[');
  EXPECT_NE(message_for(lists).find("nested deeper than 64"), std::string::npos);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_NE(message_for(objects).find("nested deeper than 64"), std::string::npos);
}

TEST(Refusals, ManyKeysAreNotSearchedAgainAndAgain) {
  std::string text = "{\"schema\": \"gpusizer.report/1\"";
  for (int i = 0; i < 50'000; ++i) text += ", \"k" + std::to_string(i) + "\": 0";
  EXPECT_NE(message_for(text + "}").find("is missing"), std::string::npos);
}

TEST(Refusals, NothingHidesBehindANulByte) {
  const std::string good = to_json(example_report());
  EXPECT_EQ(message_for(good + std::string(1, '\0') + "more"),
            "the report holds a NUL byte (r.json, byte " + std::to_string(good.size()) + ")");
}

TEST(Refusals, ControlCharactersOfAKeyDoNotCutTheSentence) {
  EXPECT_EQ(message_for("{\"a\\u0000b\\u001b\": x}"), "the report is not valid JSON (r.json, byte 19, at /a\\x00b\\x1b)");
}

TEST(Refusals, BytesThatAreNotUtf8) {
  EXPECT_NE(message_for("{\"a\": \"\xff\"}").find("not valid JSON"), std::string::npos);
}

}  // namespace
}  // namespace gpusizer::record
