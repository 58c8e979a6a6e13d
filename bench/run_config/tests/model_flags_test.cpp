// SPDX-License-Identifier: Apache-2.0
// The options of models: known by every table, refused where a model has none of that name, shown in a case's id.
#include "bench/run_config/model_flags.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/run_config/family.hpp"
#include "bench/run_config/suite_file.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

using Flags = std::vector<std::pair<std::string, std::string>>;

CaseConfig completed(const Flags& flags) {
  CaseConfig config;
  for (const auto& [name, value] : flags) {
    const auto setting = std::ranges::find(settings(), name, &Setting::name);
    if (setting == settings().end()) throw std::logic_error("no flag --" + name);
    setting->set(config, parse_setting(*setting, value));
  }
  return complete_case(config);
}

void expect_refused(const Flags& flags, const std::string& where) {
  try {
    completed(flags);
    ADD_FAILURE() << flags.back().first << " " << flags.back().second << " was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(error.where().find(where), std::string::npos) << error.what();
    EXPECT_NE(error.hint(), "") << error.what();
  }
}

TEST(ModelFlags, EveryOptionHasItsFlag) {
  for (const NamedNumber& option : number_options()) {
    const std::string name(option.flag.substr(2));
    const auto setting = std::ranges::find(settings(), name, &Setting::name);
    ASSERT_NE(setting, settings().end()) << name;
    EXPECT_EQ(key_of(*setting), option.name);
    CaseConfig config;
    setting->set(config, std::int64_t{7});
    EXPECT_EQ(config.options.*option.member, 7) << name;
    EXPECT_TRUE(shapes_program(name));
  }
  for (const NamedWord& option : word_options())
    EXPECT_NE(std::ranges::find(settings(), option.flag.substr(2), &Setting::name), settings().end()) << option.flag;
  EXPECT_FALSE(shapes_program("epochs"));
}

TEST(ModelFlags, EveryModelIsOfAKnownFamily) {
  for (const ModelEntry& model : models()) EXPECT_EQ(family_of(model).name, model.family);
}

TEST(ModelFlags, WhatAModelDoesNotHaveIsRefused) {
  expect_refused({{"model", "resnet8"}, {"hidden", "64"}}, "--hidden");
  expect_refused({{"model", "resnet8"}, {"head", "pretraining"}}, "--head");
  expect_refused({{"model", "resnet8"}, {"buckets", "32,64"}}, "--buckets");
  expect_refused({{"model", "resnet8"}, {"columns", "a"}}, "--columns");
  expect_refused({{"model", "bert-mini"}, {"image-size", "64"}}, "--image-size");
  expect_refused({{"model", "bert-mini"}, {"stem", "cifar"}}, "--stem");
  expect_refused({{"model", "bert-mini"}, {"window", "64"}}, "--window");
  expect_refused({{"model", "bert-mini"}, {"augment", "on"}}, "--augment");
  expect_refused({{"model", "bert-mini"}, {"targets", "a"}}, "--targets");
  expect_refused({{"model", "lstm"}, {"heads", "2"}}, "--heads");
  expect_refused({{"model", "lstm"}, {"vocab", "v.txt"}}, "--vocab");
  expect_refused({{"model", "lstm"}, {"classes", "2"}}, "--classes");
}

TEST(ModelFlags, ValuesThatCannotBeAreRefused) {
  expect_refused({{"model", "bert-mini"}, {"layers", "-1"}}, "--layers");
  expect_refused({{"model", "bert-mini"}, {"sequence", "99999999"}}, "--sequence");
  expect_refused({{"model", "bert-mini"}, {"head", "guessing"}}, "--head");
  expect_refused({{"model", "lstm"}, {"loss", "hinge"}}, "--loss");
  expect_refused({{"model", "lstm"}, {"columns", "a,,b"}}, "--columns");
  for (const char* buckets : {"64,32", "32,32", "0,32", "32,", "x", "1.5", "32;64"})
    expect_refused({{"model", "bert-mini"}, {"buckets", buckets}}, "--buckets");
  expect_refused({{"model", "bert-mini"}, {"buckets", "32,64"}, {"sequence", "128"}}, "--sequence");
}

TEST(ModelFlags, WhatFollowsFromOthersIsFilledIn) {
  const CaseConfig bucketed = completed({{"model", "bert-mini"}, {"buckets", "32,64"}});
  EXPECT_EQ(bucketed.options.sequence, 64);
  EXPECT_EQ(bucketed.options.predictions, 10);  // 9.6 rounded up
  EXPECT_EQ(completed({{"model", "bert-mini"}, {"hidden", "128"}}).options.feed_forward, 512);
  EXPECT_EQ(completed({{"model", "lstm"}, {"hidden", "128"}}).options.feed_forward, 0);
  EXPECT_EQ(completed({{"model", "bert-mini"}}).options, ModelOptions{});
  EXPECT_EQ(completed({{"model", "lstm"}, {"columns", "a,b c"}}).columns, (std::vector<std::string>{"a", "b c"}));
}

TEST(ModelFlags, BatchesFitTheFamily) {
  EXPECT_EQ(*completed({{"model", "bert-mini"}}).batch, 32);
  EXPECT_EQ(*completed({{"model", "bert-mini"}, {"hidden", "512"}}).batch, 8);
  EXPECT_EQ(*completed({{"model", "bert-base"}}).batch, 8);
  EXPECT_EQ(*completed({{"model", "lstm"}}).batch, 64);
  EXPECT_FALSE(*completed({{"model", "bert-mini"}, {"epochs", "20"}}).augment);
}

TEST(ModelFlags, TheCaseIdNamesWhatWasGiven) {
  EXPECT_EQ(case_id(completed({{"model", "bert-base"}})), "bert-base/synthetic/b8/fp32/cpu");
  EXPECT_EQ(case_id(completed({{"model", "bert-mini"}, {"sequence", "64"}, {"hidden", "128"}})),
            "bert-mini/synthetic/b32/fp32/cpu/128hidden/64tokens");
  EXPECT_EQ(case_id(completed({{"model", "bert-mini"}, {"buckets", "32,64"}, {"predictions", "5"}})),
            "bert-mini/synthetic/b32/fp32/cpu/64tokens/5masked/32-64");
  EXPECT_EQ(case_id(completed({{"model", "lstm"}, {"data", "csv:/d/x.csv"}, {"loss", "pinball"}, {"columns", "a,b"}})),
            "lstm/csv/b64/fp32/cpu/pinball/from:a+b");
  EXPECT_EQ(case_id(completed({{"model", "resnet8"}, {"stem", "imagenet"}, {"image-size", "32"}, {"channels", "1"}})),
            "resnet8/synthetic/b128/fp32/cpu/imagenet/32px/1ch");
}

}  // namespace
}  // namespace gpusizer
