// SPDX-License-Identifier: Apache-2.0
// Back-tests on tables of a known law: what can be known is predicted, and intervals come from other sources only.
#include "reports/sizing/backtest/backtest.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gpusizer/error.hpp"

namespace gpusizer::backtest {
namespace {

constexpr const char* heading =
    "source,model,framework,dataset,gpu,gpu_mem_gb,gpus,nodes,precision,batch_per_gpu,throughput,unit,notes\n";

std::string row(const std::string& source, const std::string& model, int gpus, int nodes, const std::string& precision,
                int batch, double rate) {
  return fmt::format("{}@1:table,{},PyTorch,x,V100-SXM2,16,{},{},{},{},{},images/s,\n", source, model, gpus, nodes, precision,
                     batch, rate);
}

// Rates of a law with a known loss inside and across nodes.
double law(int gpus, int nodes, double inside, double across) {
  const double n = double(gpus) / nodes;
  return gpus / (1 + inside * 2 * (n - 1) / n + across * 2 * (nodes - 1) / nodes);
}

std::string table_of_laws() {
  std::string text = heading;
  for (int source = 0; source < 4; ++source)
    for (int model = 0; model < 6; ++model)
      for (const auto& [gpus, nodes] : {std::pair{1, 1}, {2, 1}, {4, 1}, {8, 1}, {16, 2}, {32, 4}})
        for (const double gain : {1.0, 2.5})
          text += row(fmt::format("s{}", source), fmt::format("m{}", model), gpus, nodes, gain > 1 ? "fp16" : "fp32", 32,
                      100 * gain * law(gpus, nodes, 0.02 + 0.01 * model, 0.05 + 0.02 * model));
  return text;
}

std::vector<Situation> run(const std::string& text) {
  return backtest(import::read_published(import::parse_csv(text, "t"), "t"), cloud::load_catalog());
}

TEST(Backtest, KnownLawsArePredicted) {
  const auto situations = run(table_of_laws());
  ASSERT_EQ(situations.size(), 8U);
  const auto more = score(situations[0]), node = score(situations[1]), precision = score(situations[5]);
  ASSERT_TRUE(more && node && precision);
  EXPECT_EQ(more->trials, 4U * 6 * 2 * 2);
  EXPECT_EQ(more->series, 48U);
  EXPECT_LT(more->mape, 0.05);
  EXPECT_LT(node->mape, 0.01);
  EXPECT_LT(precision->mape, 1e-9);
  EXPECT_GE(node->coverage, 0.85);
  EXPECT_FALSE(score(situations[3]));  // one batch only
}

TEST(Backtest, OneSourceHasTheShippedWidths) {
  std::string text = heading;
  for (const auto& [gpus, nodes] : {std::pair{1, 1}, {4, 1}, {8, 1}, {16, 2}})
    text += row("alone", "m", gpus, nodes, "fp32", 32, law(gpus, nodes, 0.05, 0.1));
  const auto situations = run(text);
  ASSERT_EQ(situations[0].trials.size(), 1U);
  const Trial& trial = situations[0].trials[0];
  EXPECT_EQ(trial.reach, scaling::Reach::new_tier);
  EXPECT_DOUBLE_EQ(trial.half_width, scaling::shipped_factor(scaling::Reach::new_tier) * trial.scale);
}

TEST(Backtest, AffineBatchesArePredicted) {
  std::string text = heading;
  for (const int batch : {8, 16, 32, 64}) text += row("s", "m", 1, 1, "fp32", batch, batch / (0.01 + 0.002 * batch));
  const auto situations = run(text);
  EXPECT_EQ(situations[3].trials.size(), 2U);
  EXPECT_LT(score(situations[3])->mape, 1e-9);
  EXPECT_EQ(situations[4].trials.size(), 1U);
  EXPECT_LT(score(situations[4])->mape, 1e-9);
}

TEST(Backtest, AnotherGpuByAnchors) {
  std::string text = heading;
  const std::pair<const char*, double> gpus[] = {{"T4,16", 1}, {"A100-SXM4,40", 6}, {"H100-SXM5,80", 11}};
  for (int model = 0; model < 6; ++model)
    for (const auto& [gpu, speed] : gpus)
      text += fmt::format("s@1:t,m{},PyTorch,x,{},1,1,fp16,32,{},images/s,\n", model, gpu, 10 * (model + 1) * speed);
  const auto situations = run(text);
  ASSERT_TRUE(score(situations[6]));
  EXPECT_LT(score(situations[6])->mape, 0.1);
  EXPECT_EQ(situations[6].trials.size(), 18U);
  EXPECT_GT(score(situations[7])->mape, score(situations[6])->mape);
}

TEST(Backtest, AGpuWithoutDataSheetAndAnchorsIsRefused) {
  std::string text = heading;
  for (const char* gpu : {"Toy 9000,16", "A100-SXM4,40"}) text += fmt::format("s@1:t,m,P,x,{},1,1,fp16,32,5,images/s,\n", gpu);
  EXPECT_EQ(run(text)[7].trials.size(), 1U);
}

}  // namespace
}  // namespace gpusizer::backtest
