// SPDX-License-Identifier: Apache-2.0
// Layouts over ranks: read, made to agree, refused where they cannot be, shown in a case's id.
#include <gtest/gtest.h>

#include "bench/run_config/check_parallel.hpp"
#include "bench/run_config/parallel_text.hpp"
#include "bench/run_config/suite_file.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

using ParallelFlags = std::vector<std::pair<std::string, std::string>>;

CaseConfig spread(const ParallelFlags& flags) {
  CaseConfig config;
  for (const auto& [name, value] : flags) {
    const Setting* const setting = find_setting(name);
    if (!setting) throw std::logic_error("no flag --" + name);
    setting->set(config, parse_setting(*setting, value));
  }
  return complete_case(config);
}

void expect_no_layout(const ParallelFlags& flags, const std::string& where) {
  try {
    spread(flags);
    ADD_FAILURE() << flags.back().first << " " << flags.back().second << " was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_EQ(error.where(), where) << error.what();
    EXPECT_NE(error.hint(), "") << error.what();
  }
}

ParallelFlags bert(ParallelFlags flags) {
  flags.insert(flags.begin(), {"model", "bert-mini"});
  return flags;
}
ParallelFlags cnn(ParallelFlags flags) {
  flags.insert(flags.begin(), {"model", "resnet8"});
  return flags;
}

TEST(ParallelConfig, OneRankIsNamedAsEver) {
  const CaseConfig c = spread(cnn({}));
  EXPECT_EQ(c.parallel.ranks(), 1);
  EXPECT_EQ(case_id(c), "resnet8/synthetic/b128/fp32/cpu");
  EXPECT_EQ(case_id(spread(cnn({{"devices", "1"}, {"scaling", "strong"}}))), case_id(c));
}

TEST(ParallelConfig, DevicesAreReplicasUnlessTheLayoutSaysOtherwise) {
  EXPECT_EQ(spread(bert({{"devices", "4"}})).parallel.dp, 4);
  const CaseConfig piped = spread(bert({{"devices", "4"}, {"parallel", "pp=2"}}));
  EXPECT_EQ(layout_word(piped.parallel), "dp2pp2");
  EXPECT_EQ(spread(bert({{"parallel", "dp2tp2"}})).parallel.devices, 4);
  EXPECT_EQ(spread(bert({{"parallel", "pp=2,dp=2"}, {"devices", "4"}})).parallel.ranks(), 4);
  expect_no_layout(bert({{"devices", "3"}, {"parallel", "pp=2"}}), "--devices");
  expect_no_layout(bert({{"devices", "8"}, {"parallel", "dp=2,pp=2"}}), "--devices");
  expect_no_layout(bert({{"devices", "4"}, {"parallel", "dp=1,pp=2"}}), "--devices");
}

TEST(ParallelConfig, IdsSayWhatDepartsFromTheUsual) {
  EXPECT_EQ(case_id(spread(bert({{"parallel", "dp=2,pp=2"}, {"stages", "3,1"}, {"pipeline-schedule", "gpipe"},
                                 {"accumulate", "4"}, {"shard-optimizer", "on"}, {"recompute", "on"}}))),
            "bert-mini/synthetic/b32/fp32/cpu/dp2pp2/3-1/gpipe/sharded/recompute/accumulate4");
  EXPECT_EQ(case_id(spread(cnn({{"devices", "2"}, {"norm-group", "8"}, {"wire", "latency=1ms,bandwidth=1Gb/s"},
                                {"bucket-mib", "1"}, {"inject-fault", "throw@1:5"}}))),
            "resnet8/synthetic/b128/fp32/cpu/dp2/norm8/buckets1/wire-1ms-125MBps/throw@1:5");
  EXPECT_EQ(case_id(spread(bert({{"devices", "2"}, {"local-sgd", "8"}}))), "bert-mini/synthetic/b32/fp32/cpu/dp2/local8");
  EXPECT_EQ(case_id(spread(bert({{"devices", "2"}, {"async-staleness", "0"}}))),
            "bert-mini/synthetic/b32/fp32/cpu/dp2/async0");
}

TEST(ParallelConfig, StrongScalingDividesTheJobsBatch) {
  const CaseConfig strong = spread(cnn({{"devices", "4"}, {"batch", "32"}, {"scaling", "strong"}}));
  EXPECT_EQ(*strong.batch, 8);
  EXPECT_EQ(*strong.job_batch, 32);
  EXPECT_EQ(*complete_case(strong).batch, 8) << "a complete case stays as it is";
  EXPECT_EQ(*spread(cnn({{"devices", "4"}, {"scaling", "strong"}})).batch, 32) << "of the customary 128";
  expect_no_layout(cnn({{"devices", "3"}, {"batch", "32"}, {"scaling", "strong"}}), "--batch");
  expect_no_layout(cnn({{"scaling", "super"}}), "--scaling");
}

TEST(ParallelConfig, TheRateIsThatOfTheJobsBatch) {
  EXPECT_DOUBLE_EQ(*spread(cnn({{"devices", "4"}, {"batch", "8"}})).lr, *spread(cnn({{"batch", "32"}})).lr);
}

TEST(ParallelConfig, ReadsWiresAndFaults) {
  ParallelOptions p;
  read_wire("bandwidth=10MB/s,latency=250us", p);
  EXPECT_DOUBLE_EQ(p.wire->latency_seconds, 250e-6);
  EXPECT_DOUBLE_EQ(p.wire->bytes_per_second, 10e6);
  read_wire("none", p);
  EXPECT_FALSE(p.wire);
  read_fault("stall@3:7", p);
  EXPECT_EQ(p.fault->kind, "stall");
  EXPECT_EQ(p.fault->rank, 3);
  EXPECT_EQ(p.fault->step, 7);
}

TEST(ParallelConfig, RefusesWhatIsNoLayout) {
  for (const char* text : {"dp", "dp=", "dp=x", "ep=2", "dp=2,dp=2", "dp=2,", "2", "dp2pp", "dp=1.5", "dp=2 pp=2", "dp=0",
                           "dp=-1", "dp=99999", "dp=2,pp=4096"})
    expect_no_layout(bert({{"parallel", text}}), "--parallel");
  for (const char* text : {"0", "-2", "99999999"}) expect_no_layout(bert({{"devices", text}}), "--devices");
  for (const char* text : {"latency", "latency=1", "latency=-1ms", "bandwidth=1Gbps", "bandwidth=0Gb/s", "speed=1ms", ",",
                           "latency=nanms", "latency=infs", "latency=1ms,latency=2ms"})
    expect_no_layout(bert({{"devices", "2"}, {"wire", text}}), "--wire");
  for (const char* text : {"throw", "throw@1", "melt@1:5", "throw@x:5", "throw@1:5:6", "throw@2:5", "throw@-1:5", "throw@1:0"})
    expect_no_layout(bert({{"devices", "2"}, {"inject-fault", text}}), "--inject-fault");
}

TEST(ParallelConfig, RefusesWhatAModelCannotHaveWithTheReason) {
  expect_no_layout(cnn({{"parallel", "tp=2"}}), "--parallel");
  expect_no_layout({{"model", "lstm"}, {"parallel", "tp=2"}}, "--parallel");
  expect_no_layout(bert({{"parallel", "tp=3"}}), "--parallel");
  expect_no_layout(bert({{"hidden", "256"}, {"heads", "4"}, {"feed-forward", "254"}, {"parallel", "tp=4"}}), "--parallel");
  expect_no_layout(bert({{"parallel", "pp=2"}, {"stages", "3,3"}}), "--stages");
  expect_no_layout(bert({{"parallel", "pp=2"}, {"stages", "4,0"}}), "--stages");
  expect_no_layout(bert({{"stages", "2,2"}}), "--stages");
  expect_no_layout(bert({{"parallel", "pp=2"}, {"stages", "2,x"}}), "--stages");
  expect_no_layout(bert({{"norm-group", "8"}}), "--norm-group");
  expect_no_layout(bert({{"devices", "2"}, {"sync-batch-norm", "on"}}), "--sync-batch-norm");
  expect_no_layout(cnn({{"batch", "32"}, {"norm-group", "7"}}), "--norm-group");
  expect_no_layout(cnn({{"batch", "32"}, {"norm-group", "0"}}), "--norm-group");
  expect_no_layout(cnn({{"batch", "32"}, {"accumulate", "8"}, {"norm-group", "8"}}), "--norm-group");
  expect_no_layout(cnn({{"devices", "2"}, {"sync-batch-norm", "on"}, {"norm-group", "8"}}), "--sync-batch-norm");
}

TEST(ParallelConfig, RefusesWhatNeedsMoreRanks) {
  expect_no_layout(bert({{"shard-optimizer", "on"}}), "--shard-optimizer");
  expect_no_layout(bert({{"local-sgd", "4"}}), "--local-sgd");
  expect_no_layout(bert({{"pipeline-schedule", "gpipe"}}), "--pipeline-schedule");
  expect_no_layout(bert({{"pipeline-schedule", "fifo"}}), "--pipeline-schedule");
  expect_no_layout(cnn({{"sync-batch-norm", "on"}}), "--sync-batch-norm");
  expect_no_layout(bert({{"wire", "latency=1ms"}}), "--wire");
  expect_no_layout(bert({{"inject-fault", "throw@1:5"}}), "--inject-fault");
}

TEST(ParallelConfig, RefusesModesThatExcludeEachOther) {
  expect_no_layout(bert({{"devices", "2"}, {"local-sgd", "4"}, {"async-staleness", "1"}}), "--local-sgd");
  expect_no_layout(bert({{"devices", "2"}, {"local-sgd", "0"}}), "--local-sgd");
  expect_no_layout(bert({{"devices", "2"}, {"async-staleness", "-1"}}), "--async-staleness");
  expect_no_layout(bert({{"async-staleness", "2"}}), "--async-staleness");
  for (const char* layout : {"pp=2", "tp=2", "dp=2,pp=2", "dp=2,tp=2"})
    expect_no_layout(bert({{"parallel", layout}, {"async-staleness", "2"}}), "--async-staleness");
  expect_no_layout(bert({{"devices", "2"}, {"async-staleness", "2"}, {"shard-optimizer", "on"}}), "--shard-optimizer");
  expect_no_layout(bert({{"devices", "2"}, {"async-staleness", "2"}, {"precision", "fp16"}}), "--precision");
  expect_no_layout(cnn({{"devices", "2"}, {"async-staleness", "2"}, {"sync-batch-norm", "on"}}), "--sync-batch-norm");
  expect_no_layout(bert({{"parallel", "dp=2,pp=2"}, {"local-sgd", "4"}}), "--local-sgd");
  expect_no_layout(bert({{"devices", "2"}, {"local-sgd", "4"}, {"shard-optimizer", "on"}}), "--shard-optimizer");
  expect_no_layout(bert({{"devices", "2"}, {"comm-timeout", "0"}}), "--comm-timeout");
  expect_no_layout(bert({{"devices", "2"}, {"bucket-mib", "-1"}}), "--bucket-mib");
  expect_no_layout(bert({{"devices", "2"}, {"wire", "latency=200s"}}), "--wire");  // beyond the time-out
  expect_no_layout(bert({{"mode", "infer"}, {"devices", "2"}}), "--devices");
  expect_no_layout(bert({{"mode", "infer"}, {"recompute", "on"}}), "--mode");
}

TEST(ParallelConfig, AnotherLayoutGoesOnFromTheCheckpointsOfTheFirst) {
  const CaseConfig c = spread(bert({{"devices", "2"}, {"checkpoint", "saved"}, {"checkpoint-of", "a/dp4"}}));
  EXPECT_EQ(checkpoint_id(c, case_id(c)), "a/dp4");
  EXPECT_EQ(checkpoint_id(spread(bert({})), "a/dp2"), "a/dp2");
  expect_no_layout(bert({{"checkpoint-of", "a/dp4"}}), "--checkpoint-of");
}

}  // namespace
}  // namespace gpusizer
