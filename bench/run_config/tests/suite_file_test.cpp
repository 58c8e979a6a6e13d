// SPDX-License-Identifier: Apache-2.0
// Suites are read strictly; flags override them; what cannot run is refused before anything starts.
#include "bench/run_config/suite_file.hpp"

#include <gtest/gtest.h>

#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_suite(text, "s.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "accepted";
}

const Setting* named(std::string_view name) {
  for (const Setting& setting : settings())
    if (setting.name == name) return &setting;
  return nullptr;
}

Overrides flags(std::initializer_list<std::pair<const char*, const char*>> list) {
  Overrides overrides;
  for (const auto& [name, value] : list) overrides.emplace_back(named(name), parse_setting(*named(name), value));
  return overrides;
}

std::string refused_flags(std::initializer_list<std::pair<const char*, const char*>> list) {
  try {
    make_run_config("", flags(list));
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "accepted";
}

TEST(SuiteFile, EveryCompiledSuiteIsValidAndItsCasesAreDistinct) {
  ASSERT_GE(compiled_suites().size(), 3u);
  for (const CompiledSuite& suite : compiled_suites()) {
    const auto config = make_run_config(std::string(suite.name), {});
    EXPECT_FALSE(config.cases.empty()) << suite.name;
    for (const std::string& id : case_ids(config)) EXPECT_EQ(id.find('#'), std::string::npos) << id;
    EXPECT_NE(load_suite(std::string(suite.name)).description, "");
  }
}

TEST(SuiteFile, DefaultsThenCaseThenFlags) {
  const auto suite = parse_suite(
      R"({"defaults": {"batch": 8, "seed": 5}, "cases": [{"model": "resnet50"}, {"model": "resnet8", "batch": 4}]})", "s");
  EXPECT_EQ(*suite.cases[0].config.batch, 8);
  EXPECT_EQ(*suite.cases[1].config.batch, 4);
  EXPECT_EQ(suite.cases[1].config.seed, 5u);
  const auto config = make_run_config("demo", flags({{"seed", "9"}, {"max-seconds", "1.5"}}));
  for (const CaseConfig& one : config.cases) {
    EXPECT_EQ(one.seed, 9u);
    EXPECT_EQ(one.max_seconds, 1.5);
  }
}

TEST(SuiteFile, NamesThePlaceOfEachMistake) {
  EXPECT_NE(refusal(R"({"cases": [{"model": "resnet8", "batches": 3}]})").find("s.json at /cases/0/batches"), std::string::npos);
  EXPECT_NE(refusal(R"({"cases": [{"batch": 1.5}]})").find("/cases/0/batch"), std::string::npos);
  EXPECT_NE(refusal(R"({"cases": [{"batch": 99999999999999999999}]})").find("/cases/0/batch"), std::string::npos);
  EXPECT_NE(refusal(R"({"cases": [{"lr": "fast"}]})").find("must be a number"), std::string::npos);
  EXPECT_NE(refusal(R"({"cases": [3]})").find("/cases/0"), std::string::npos);
  EXPECT_NE(refusal(R"({"cases": []})").find("/cases"), std::string::npos);
  EXPECT_NE(refusal(R"({"case": []})").find("/case"), std::string::npos);
  EXPECT_NE(refusal(R"([])").find("object"), std::string::npos);
  EXPECT_NE(refusal(R"({"cases": [{"lr": NaN}]})").find("byte"), std::string::npos);
  EXPECT_NE(refusal(R"({"cases": [{"seed": 1, "seed": 2}]})").find("given twice"), std::string::npos);
  EXPECT_NE(refusal(R"({"cases")").find("not valid JSON"), std::string::npos);
  EXPECT_NE(refusal("").find("not valid JSON"), std::string::npos);
}

TEST(SuiteFile, AnUnknownSuiteNamesTheKnownOnes) {
  try {
    load_suite("nightly");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("demo"), std::string::npos);
  }
  try {
    load_suite("/no/such/suite.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::input);
  }
}

TEST(CheckCase, AWarmUpLongerThanTheRunIsRefused) {
  EXPECT_NE(refused_flags({{"model", "resnet8"}, {"steps", "100"}, {"warmup", "200"}}).find("--steps"), std::string::npos);
  EXPECT_NE(refused_flags({{"model", "resnet8"}, {"max-steps", "1"}}).find("--max-steps"), std::string::npos);
  EXPECT_EQ(refused_flags({{"model", "resnet8"}, {"steps", "201"}, {"warmup", "200"}}), "accepted");
}

TEST(CheckCase, EachRefusalNamesItsFlag) {
  const std::initializer_list<std::pair<const char*, const char*>> bad[] = {
      {{"batch", "0"}},          {{"batch", "-3"}},           {{"batch", "99999999999"}}, {{"classes", "1"}},
      {{"image-size", "100000"}}, {{"threads", "-1"}},        {{"seed", "-1"}},           {{"tail", "pad"}},
      {{"precision", "fp8"}},   {{"stem", "tiny"}},          {{"schedule", "linear"}},   {{"schedule", "cosine"}},
      {{"epochs", "0"}},         {{"max-seconds", "-1"}},     {{"lr", "0"}},              {{"momentum", "1"}},
      {{"weight-decay", "-1"}},
      {{"optimizer", "adamax"}}, {{"accumulate", "0"}},     {{"clip-norm", "-1"}},       {{"l1", "-1"}},
      {{"beta1", "1"}},          {{"beta2", "-0.1"}},      {{"patience", "3"}},
      {{"precision-target", "0"}}, {{"target-accuracy", "90"}}, {{"synthetic-samples", "-1"}},
      {{"lr-warmup-share", "1"}}};
  for (const auto& list : bad) {
    auto overrides = flags(list);
    overrides.emplace_back(named("model"), std::string("resnet8"));
    const std::string flag = std::string("--") + list.begin()->first;
    try {
      make_run_config("", overrides);
      ADD_FAILURE() << flag << " " << list.begin()->second << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), flag) << error.what();
      EXPECT_NE(error.hint(), "") << error.what();
    }
  }
  EXPECT_NE(refused_flags({{"model", "resnet8"}, {"steps", "9"}, {"epochs", "1"}}).find("exclude"), std::string::npos);
}

TEST(CheckCase, WhatIsLeftOpenFollowsFromTheRest) {
  const auto completed = [](Overrides overrides) { return make_run_config("", overrides).cases[0]; };
  const auto timed = completed(flags({{"model", "resnet50"}}));
  EXPECT_EQ(timed.schedule, "constant");
  EXPECT_FALSE(*timed.eval);
  EXPECT_EQ(*timed.batch, 16);
  const auto trained = completed(flags({{"model", "resnet8"}, {"data", "fashion-mnist"}, {"epochs", "3"}}));
  EXPECT_EQ(trained.schedule, "cosine");
  EXPECT_TRUE(*trained.eval);
  EXPECT_FALSE(*trained.augment);
  EXPECT_TRUE(*completed(flags({{"model", "resnet8"}, {"epochs", "10"}})).augment);
  EXPECT_EQ(*completed(flags({{"model", "resnet8"}, {"target-accuracy", "0.9"}})).epochs, 100);
}

TEST(CheckCase, ModelsAreNeededAndKnown) {
  EXPECT_NE(refused_flags({}).find("--model"), std::string::npos);
  EXPECT_NE(refused_flags({{"model", "resnet51"}}).find("resnet50"), std::string::npos);
}

TEST(Settings, RefuseWhatIsNoValueOfTheirKind) {
  for (const char* text : {"", "x", "1x", "nan", "inf", "1e999", "0x10", " 1"})
    EXPECT_THROW(parse_setting(*named("lr"), text), Error) << text;
  for (const char* text : {"", "1.5", "99999999999999999999", "one"})
    EXPECT_THROW(parse_setting(*named("batch"), text), Error) << text;
  EXPECT_THROW(parse_setting(*named("eval"), "yes"), Error);
  EXPECT_THROW(parse_setting(*named("model"), ""), Error);
  EXPECT_EQ(std::get<double>(parse_setting(*named("lr"), "0.05")), 0.05);
}

TEST(CaseId, DiffersWhereTheWorkloadDoes) {
  const auto id = [](Overrides overrides) { return case_ids(make_run_config("", overrides))[0]; };
  EXPECT_EQ(id(flags({{"model", "resnet50"}})), "resnet50/synthetic/b16/fp32/cpu");
  EXPECT_NE(id(flags({{"model", "resnet50"}, {"image-size", "128"}})), id(flags({{"model", "resnet50"}})));
  EXPECT_EQ(id(flags({{"model", "resnet8"}, {"data", "/photos/mine"}})), "resnet8/folder/b128/fp32/cpu");
  EXPECT_EQ(id(flags({{"model", "resnet8"}, {"data", "cifar10:/d"}})), "resnet8/cifar10/b128/fp32/cpu");
  EXPECT_EQ(id(flags({{"model", "resnet50"}, {"seed", "2"}})), id(flags({{"model", "resnet50"}})));
}

TEST(CaseId, ARepeatedCaseGetsANumber) {
  RunConfig config = make_run_config("smoke", {});
  config.cases.push_back(config.cases[0]);
  EXPECT_EQ(case_ids(config).back(), case_ids(config).front() + "#2");
}

}  // namespace
}  // namespace gpusizer
