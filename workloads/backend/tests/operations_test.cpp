// SPDX-License-Identifier: Apache-2.0
// Every operation case on every backend against the reference: losses, gradients, running statistics, updates.
#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/backend/tests/operation_cases.hpp"
#include "workloads/backend/tests/training_run.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

class Operations : public testing::TestWithParam<std::tuple<std::string, OperationCase>> {};

TEST_P(Operations, AgreeWithTheReference) {
  const auto& [name, one] = GetParam();
  const auto backend = make_backend(name), reference = make_backend("reference");
  if (backend->probe().devices.empty()) GTEST_SKIP() << backend->probe().reason;
  // Without weight decay the first step's momentum is its gradient.
  const Program training = training_program(one.build(), {.momentum = 0.9, .weight_decay = 0});
  if (const std::string refusal = refusal_of(*backend, training); !refusal.empty()) GTEST_SKIP() << refusal;
  const TrainingRun got = train(*backend, training, {}), wanted = train(*reference, training, {});
  for (size_t i = 0; i < wanted.results.size(); ++i) {
    EXPECT_NEAR(got.results[i].loss, wanted.results[i].loss, one.tolerance * wanted.results[i].loss) << "step " << i;
    EXPECT_EQ(got.results[i].correct, wanted.results[i].correct) << "step " << i;
  }
  expect_close(got.after_first, wanted.after_first, one.tolerance);
  expect_close(got.after_last, wanted.after_last, 10 * one.tolerance);  // differences of three steps add up
}

INSTANTIATE_TEST_SUITE_P(Backend, Operations,
                         testing::Combine(testing::ValuesIn(other_device_backends()), testing::ValuesIn(operation_cases())),
                         [](const auto& each) { return test_name(std::get<0>(each.param)) + "_" + std::get<1>(each.param).name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Operations);

class Updates : public testing::TestWithParam<std::tuple<std::string, OptimizerOptions>> {};

TEST_P(Updates, AgreeWithTheReference) {
  const auto& [name, options] = GetParam();
  const auto backend = make_backend(name), reference = make_backend("reference");
  if (backend->probe().devices.empty()) GTEST_SKIP() << backend->probe().reason;
  const auto is_linear = [](const OperationCase& c) { return c.name == "linear"; };
  const Program forward = std::ranges::find_if(operation_cases(), is_linear)->build();
  const Program training = training_program(forward, options);
  const TrainingRun got = train(*backend, training, {.steps = 4}), wanted = train(*reference, training, {.steps = 4});
  expect_close(got.after_last, wanted.after_last, 1e-4);
}

const OptimizerOptions updates[] = {
    {.momentum = 0, .weight_decay = 0},
    {.momentum = 0, .weight_decay = 0.1},
    {.momentum = 0.5, .weight_decay = 0.1},
    {.momentum = 0.5, .weight_decay = 0.1, .l1 = 0.01, .clip_norm = 0.5},
    {.weight_decay = 0.1, .kind = OptimizerKind::adam},
    {.weight_decay = 0.1, .kind = OptimizerKind::adam, .l1 = 0.01, .clip_norm = 0.5},
    {.weight_decay = 0.1, .kind = OptimizerKind::adamw, .beta1 = 0.5, .beta2 = 0.7, .epsilon = 1e-3},
    {.weight_decay = 0.1, .kind = OptimizerKind::adamw, .clip_norm = 0.5, .decay_vectors = false},
    {.weight_decay = 0.1, .kind = OptimizerKind::adagrad},
    {.weight_decay = 0.1, .kind = OptimizerKind::adagrad, .l1 = 0.01, .clip_norm = 0.5},
    {.weight_decay = 0.1, .kind = OptimizerKind::lamb},
    {.weight_decay = 0.1, .kind = OptimizerKind::lamb, .clip_norm = 0.5},
};

INSTANTIATE_TEST_SUITE_P(Backend, Updates,
                         testing::Combine(testing::ValuesIn(other_device_backends()), testing::ValuesIn(updates)));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Updates);

}  // namespace
}  // namespace gpusizer
