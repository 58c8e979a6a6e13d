// SPDX-License-Identifier: Apache-2.0
// The same numbers whatever the layout: small models, 20 steps, against one rank with the same batch, on every backend.
#include <gtest/gtest.h>

#include <cmath>

#include "workloads/backend/tests/layout_run.hpp"

namespace gpusizer {
namespace {

// The reference is slow at convolutions, and a fault shows in its first steps.
int step_count(const std::string& backend, const std::string& model) {
  return backend == "reference" && model == "resnet8" ? 4 : 20;
}
constexpr auto gpipe = PipelineSchedule::gpipe;

// What sums in another order may change: rounding of f32, and of what is read back as f32.
double tolerance(const std::string& backend) { return backend == "reference" ? 1e-6 : 1e-4; }

// The distance of all parameters together, relative to their length. Single gradients of a network with ReLUs and batch
// norms over few values say little: rounding decides on which side of zero a few of its values are.
double whole_distance(const Values& got, const Values& wanted) {
  double difference = 0, length = 0;
  for (const auto& [name, values] : wanted)
    for (size_t i = 0; i < values.size(); ++i) {
      difference += std::pow(static_cast<double>(got.at(name).at(i)) - static_cast<double>(values[i]), 2);
      length += std::pow(static_cast<double>(values[i]), 2);
    }
  return std::sqrt(difference / length);
}

struct Family {
  std::string model;
  float learning_rate;
  std::vector<Layout> layouts;
  Layout one{};  // the rank that they are compared with
  std::string name{};
  friend void PrintTo(const Family& f, std::ostream* out) { *out << f.name; }
};

const std::vector<Layout> data_layouts{
    {.name = "dp2", .samples = {4, 4}},
    {.name = "dp4", .samples = {2, 2, 2, 2}},
    {.name = "dp2_unequal", .samples = {5, 3}},
    {.name = "dp3_unequal", .samples = {3, 3, 2}},
    {.name = "dp2_sharded", .samples = {4, 4}, .sharded = true},
    {.name = "dp4_sharded", .samples = {2, 2, 2, 2}, .sharded = true},
    {.name = "recomputed", .recompute = true},
    {.name = "accumulation_4", .micro_batches = 4},
    {.name = "dp2_accumulation_2_recomputed_sharded",
     .samples = {4, 4},
     .micro_batches = 2,
     .sharded = true,
     .recompute = true},
};

const std::vector<Layout> pipeline_layouts{
    {.name = "pp2_gpipe", .stages = 2, .micro_batches = 4, .schedule = gpipe},
    {.name = "pp2_1f1b", .stages = 2, .micro_batches = 4},
    {.name = "pp3_1f1b", .stages = 3, .micro_batches = 4},
    {.name = "pp2_recomputed", .stages = 2, .micro_batches = 2, .recompute = true},
    {.name = "dp2_pp2", .samples = {4, 4}, .stages = 2, .micro_batches = 2},
    {.name = "dp2_pp2_unequal_sharded", .samples = {6, 2}, .stages = 2, .micro_batches = 2, .sharded = true},
};

const std::vector<Layout> deep_pipeline_layouts{
    {.name = "pp4_gpipe", .stages = 4, .micro_batches = 4, .schedule = gpipe},
    {.name = "pp4_1f1b", .stages = 4, .micro_batches = 8},
};

const std::vector<Layout> slice_layouts{
    {.name = "tp2", .slices = 2},
    {.name = "dp2_tp2", .samples = {4, 4}, .slices = 2},
    {.name = "dp2_tp2_sharded", .samples = {5, 3}, .slices = 2, .sharded = true},
    {.name = "pp2_tp2", .stages = 2, .slices = 2, .micro_batches = 2},
    {.name = "dp2_pp2_tp2", .samples = {4, 4}, .stages = 2, .slices = 2, .micro_batches = 2},
};

std::vector<Layout> clipped(std::vector<Layout> layouts) {
  for (Layout& l : layouts) l.optimizer.clip_norm = 0.3, l.name += "_clipped";
  return layouts;
}

std::vector<Layout> together(const std::vector<std::vector<Layout>>& lists) {
  std::vector<Layout> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<Layout> updated_by(OptimizerKind kind, std::vector<Layout> layouts) {
  for (Layout& l : layouts) l.optimizer = {.weight_decay = 0.01, .kind = kind, .clip_norm = 1};
  return layouts;
}

const std::vector<Layout> update_layouts{
    {.name = "dp2_sharded", .samples = {5, 3}, .sharded = true},
    {.name = "pp2", .stages = 2, .micro_batches = 4},
    {.name = "dp2_pp2_sharded", .samples = {4, 4}, .stages = 2, .micro_batches = 2, .sharded = true},
};

// Layouts whose batch norms see what those of one rank see.
const std::vector<Layout> group_layouts{
    {.name = "dp2", .samples = {4, 4}},
    {.name = "dp2_sharded", .samples = {4, 4}, .sharded = true},
    {.name = "accumulation_2", .micro_batches = 2},
    {.name = "recomputed", .recompute = true, .norm_group = 4},
    {.name = "pp2_gpipe", .stages = 2, .micro_batches = 2, .schedule = gpipe},
    {.name = "pp3_1f1b", .stages = 3, .micro_batches = 2},
    {.name = "dp2_pp2", .samples = {4, 4}, .stages = 2},
};

const std::vector<Layout> sync_layouts{
    {.name = "dp2_sync", .samples = {4, 4}, .sync_batch_norm = true},
    {.name = "dp4_sync", .samples = {2, 2, 2, 2}, .sync_batch_norm = true},
    {.name = "dp2_sync_unequal", .samples = {5, 3}, .sync_batch_norm = true},
    {.name = "dp2_sync_recomputed_sharded",
     .samples = {4, 4},
     .sharded = true,
     .recompute = true,
     .sync_batch_norm = true},
};

const std::vector<Family> families{
    {"bert-mini", 0.05f, together({data_layouts, pipeline_layouts, deep_pipeline_layouts, slice_layouts}), {}, "bert"},
    {"temporal",
     0.02f,
     together({data_layouts, pipeline_layouts, deep_pipeline_layouts, slice_layouts}),
     {},
     "temporal"},
    {"lstm", 0.05f, together({data_layouts, pipeline_layouts}), {}, "lstm"},
    {"bert-mini", 0.05f,
     clipped({{.name = "dp2", .samples = {5, 3}},
              {.name = "dp2_sharded", .samples = {4, 4}, .sharded = true},
              {.name = "pp2", .stages = 2, .micro_batches = 4},
              {.name = "tp2", .slices = 2},
              {.name = "dp2_pp2_tp2_sharded",
               .samples = {4, 4},
               .stages = 2,
               .slices = 2,
               .micro_batches = 2,
               .sharded = true}}),
     clipped({{}})[0], "bert_clipped"},
    {"bert-mini", 1e-3f,
     together({updated_by(OptimizerKind::adamw, update_layouts), updated_by(OptimizerKind::adamw, slice_layouts)}),
     updated_by(OptimizerKind::adamw, {{}})[0], "bert_adamw"},
    {"bert-mini", 1e-3f, updated_by(OptimizerKind::lamb, update_layouts), updated_by(OptimizerKind::lamb, {{}})[0],
     "bert_lamb"},
    {"resnet8", 0.01f, group_layouts, {.norm_group = 4}, "cnn_groups"},
    {"resnet8", 0.001f, sync_layouts, {}, "cnn_sync"},
};

// Sums of numbers that are rounded to eight or eleven bits: near one rank's, and finite.
std::vector<Layout> in_precision(Precision precision) {
  std::vector<Layout> layouts{{.name = "dp2", .samples = {5, 3}},
                              {.name = "dp2_sharded", .samples = {4, 4}, .sharded = true},
                              {.name = "pp2", .stages = 2, .micro_batches = 2},
                              {.name = "tp2", .slices = 2},
                              {.name = "dp2_pp2_tp2", .samples = {4, 4}, .stages = 2, .slices = 2, .micro_batches = 2}};
  for (Layout& l : layouts) l.precision = precision;
  return layouts;
}

class PrecisionsOfRanks : public testing::TestWithParam<std::tuple<std::string, Precision>> {};

TEST_P(PrecisionsOfRanks, LayoutsStayNearOneRank) {
  const auto& [backend, precision] = GetParam();
  for (const std::string model : {"bert-mini", "temporal"}) {
    const LayoutRun wanted = train_layout(model, {.precision = precision}, backend, 10, 0.02f);
    for (const Layout& layout : in_precision(precision)) {
      SCOPED_TRACE(model + " " + layout.name);
      const LayoutRun got = train_layout(model, layout, backend, 10, 0.02f);
      for (size_t i = 0; i < got.losses.size(); ++i)
        EXPECT_NEAR(got.losses[i], wanted.losses[i], 0.02 * wanted.losses[i]);
      EXPECT_LT(whole_distance(got.parameters, wanted.parameters), 0.01);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backend, PrecisionsOfRanks,
                         testing::Combine(testing::ValuesIn(all_backends()),
                                          testing::Values(Precision::fp16, Precision::bf16, Precision::tf32)),
                         [](const auto& each) {
                           return std::get<0>(each.param) + "_" + std::string(to_string(std::get<1>(each.param)));
                         });

class ParallelLayouts : public testing::TestWithParam<std::tuple<std::string, Family>> {};

TEST_P(ParallelLayouts, TrainAsOneRankDoes) {
  const auto& [backend, family] = GetParam();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (backend == "reference" && family.model == "resnet8") GTEST_SKIP() << "takes minutes under a sanitizer";
#endif
  const int count = step_count(backend, family.model);
  const LayoutRun wanted = train_layout(family.model, family.one, backend, count, family.learning_rate);
  for (const Layout& layout : family.layouts) {
    SCOPED_TRACE(layout.name);
    const LayoutRun got = train_layout(family.model, layout, backend, count, family.learning_rate);
    ASSERT_EQ(got.losses.size(), wanted.losses.size());
    for (size_t i = 0; i < got.losses.size(); ++i)
      EXPECT_NEAR(got.losses[i], wanted.losses[i], tolerance(backend) * wanted.losses[i]) << "step " << i;
    ASSERT_EQ(got.parameters.size(), wanted.parameters.size());
    EXPECT_LT(whole_distance(got.parameters, wanted.parameters), tolerance(backend));
    if (family.model != "resnet8") expect_close_on_average(got.parameters, wanted.parameters, tolerance(backend));
  }
}

INSTANTIATE_TEST_SUITE_P(Backend, ParallelLayouts,
                         testing::Combine(testing::ValuesIn(all_backends()), testing::ValuesIn(families)),
                         [](const auto& each) { return std::get<0>(each.param) + "_" + std::get<1>(each.param).name; });

}  // namespace
}  // namespace gpusizer
