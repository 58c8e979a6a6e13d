// SPDX-License-Identifier: Apache-2.0
// A sweep makes several cases of one, each with an id that tells it from the others.
#include "bench/run_config/sweep.hpp"

#include <gtest/gtest.h>

#include "bench/run_config/suite_file.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

std::vector<std::string> ids_of(const std::vector<std::string>& sweeps, Overrides overrides = {}) {
  const Setting* const model = find_setting("model");
  overrides.emplace_back(model, std::string("bert-mini"));
  std::vector<Sweep> read;
  for (const std::string& text : sweeps) read.push_back(read_sweep(text));
  return case_ids(make_run_config("", overrides, read));
}

Overrides with(const std::string& name, const std::string& value) {
  const Setting* const setting = find_setting(name);
  return {{setting, parse_setting(*setting, value)}};
}

std::string sweep_refusal(const std::vector<std::string>& sweeps, const Overrides& overrides = {}) {
  try {
    ids_of(sweeps, overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Sweep, IsAProductWithTheFirstOutermost) {
  EXPECT_EQ(ids_of({"devices=1,2", "precision=fp32,bf16"}),
            (std::vector<std::string>{"bert-mini/synthetic/b32/fp32/cpu", "bert-mini/synthetic/b32/bf16/cpu",
                                      "bert-mini/synthetic/b32/fp32/cpu/dp2", "bert-mini/synthetic/b32/bf16/cpu/dp2"}));
}

TEST(Sweep, ReadsLayoutsInBothForms) {
  const std::vector<std::string> expected{"bert-mini/synthetic/b32/fp32/cpu/dp4", "bert-mini/synthetic/b32/fp32/cpu/dp2pp2"};
  EXPECT_EQ(ids_of({"parallel=dp4,dp2pp2"}), expected);
  EXPECT_EQ(ids_of({"parallel=dp=4;dp=2,pp=2"}), expected);
}

TEST(Sweep, NamesWhatAnIdWouldNotShow) {
  EXPECT_EQ(ids_of({"optimizer=adam,adamw", "lr=0.001,0.01"}),
            (std::vector<std::string>{"bert-mini/synthetic/b32/fp32/cpu/optimizer:adam/lr:0.001",
                                      "bert-mini/synthetic/b32/fp32/cpu/optimizer:adam/lr:0.01",
                                      "bert-mini/synthetic/b32/fp32/cpu/optimizer:adamw/lr:0.001",
                                      "bert-mini/synthetic/b32/fp32/cpu/optimizer:adamw/lr:0.01"}));
  EXPECT_EQ(ids_of({"hidden=128,256", "heads=2,4"}).back(), "bert-mini/synthetic/b32/fp32/cpu/256hidden/4heads");
}

TEST(Sweep, EverySettingHasValuesWithTellingIds) {
  for (const Setting& setting : settings()) {
    if (setting.kind != SettingKind::on_off) continue;
    Sweep sweep = read_sweep(std::string(setting.name) + "=on,off");
    EXPECT_EQ(sweep.values.size(), 2u);
    std::vector<CaseConfig> cases = expand({.config = {}, .sweeps = {sweep}});
    for (CaseConfig& one : cases) one.model = "bert-mini", one.batch = 8;
    EXPECT_NE(case_id(cases[0]), case_id(cases[1])) << setting.name;
  }
}

TEST(Sweep, OneRankIsTheBaselineOfWhatNeedsMany) {
  const auto ids = ids_of({"devices=1,2"}, with("shard-optimizer", "on"));
  EXPECT_EQ(ids, (std::vector<std::string>{"bert-mini/synthetic/b32/fp32/cpu", "bert-mini/synthetic/b32/fp32/cpu/dp2/sharded"}));
  const auto config = make_run_config("", with("model", "bert-mini"), {read_sweep("devices=1,2,4")});
  for (const CaseConfig& one : config.cases) EXPECT_EQ(one.parallel.ranks_of_largest, 4);
  EXPECT_EQ(make_run_config("", with("model", "bert-mini")).cases[0].parallel.ranks_of_largest, 0);
}

TEST(Sweep, StrongScalingKeepsTheJobsBatch) {
  Overrides overrides = with("scaling", "strong");
  overrides.push_back(with("batch", "32").front());
  EXPECT_EQ(ids_of({"devices=1,2,4"}, overrides),
            (std::vector<std::string>{"bert-mini/synthetic/b32/fp32/cpu", "bert-mini/synthetic/b16/fp32/cpu/dp2",
                                      "bert-mini/synthetic/b8/fp32/cpu/dp4"}));
}

TEST(Sweep, RefusesWhatIsNoSweep) {
  for (const char* text : {"devices", "=1,2", "devices=", "devices=1,,2", "devices=1,1", "devicse=1,2", "devices=1,x", "sweep=1"})
    EXPECT_NE(sweep_refusal({text}), "accepted") << text;
  EXPECT_NE(sweep_refusal({"precison=fp32,bf16"}).find("did you mean precision"), std::string::npos);
  EXPECT_NE(sweep_refusal({"devices=1,2", "devices=4"}).find("--sweep"), std::string::npos);
  EXPECT_NE(sweep_refusal({"batch=8,16"}, with("batch", "8")).find("given and swept"), std::string::npos);
  std::string many = "seed=0";
  for (int i = 1; i < 40; ++i) many += "," + std::to_string(i);
  EXPECT_NE(sweep_refusal({many, "synthetic-samples" + many.substr(4)}).find("1000"), std::string::npos);
}

TEST(Sweep, ASuiteTakesTheSame) {
  const auto suite = parse_suite(
      R"({"defaults": {"batch": 8, "sweep": {"devices": [1, 2]}},
          "cases": [{"model": "bert-mini", "sweep": {"precision": ["fp32", "bf16"]}}, {"model": "resnet8", "devices": 4}]})",
      "s.json");
  EXPECT_EQ(expand(suite.cases[0]).size(), 4u);
  EXPECT_EQ(expand(suite.cases[1]).size(), 1u) << "what a case says replaces a sweep of the defaults";
  EXPECT_EQ(expand(suite.cases[1])[0].parallel.devices, 4);
}

TEST(Sweep, ASuitesMistakesAreNamedWithTheirPlace) {
  const auto refusal_of = [](const std::string& text) {
    try {
      parse_suite(text, "s.json");
    } catch (const Error& error) {
      return error.where();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal_of(R"({"cases": [{"model": "lstm", "sweep": {"devices": [1, "2"]}}]})"), "s.json at /cases/0/sweep/devices/1");
  EXPECT_EQ(refusal_of(R"({"cases": [{"model": "lstm", "sweep": {"devices": []}}]})"), "s.json at /cases/0/sweep/devices");
  EXPECT_EQ(refusal_of(R"({"cases": [{"model": "lstm", "sweep": {"device5": [1]}}]})"), "s.json at /cases/0/sweep/device5");
  EXPECT_EQ(refusal_of(R"({"cases": [{"model": "lstm", "sweep": [1]}]})"), "s.json at /cases/0/sweep");
  EXPECT_EQ(refusal_of(R"({"cases": [{"batch": 8, "sweep": {"batch": [1, 2]}}]})"), "s.json at /cases/0/batch");
  EXPECT_EQ(refusal_of(R"({"cases": [{"model": "lstm", "sweep": {"lr": [0.1, 0.1]}}]})"), "s.json at /cases/0/sweep/lr/1");
}

}  // namespace
}  // namespace gpusizer
