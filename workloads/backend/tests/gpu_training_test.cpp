// SPDX-License-Identifier: Apache-2.0
// Whole trainings on a GPU, or on the emulated one, follow the CPU's curve of losses.
#include <gtest/gtest.h>

#include <cmath>

#include "workloads/backend/tests/training_run.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

struct TrainingCase {
  std::string model;
  ModelOptions options;
  int64_t batch;
  OptimizerKind optimizer;
  float learning_rate;
  int steps;
};

const TrainingCase trainings[] = {
    {"bert-mini", {.vocabulary = 500, .sequence = 12, .predictions = 3}, 2, OptimizerKind::adamw, 1e-4f, 20},
    {"resnet8", {.classes = 10, .image_size = 16, .channels = 3, .stem = "cifar"}, 4, OptimizerKind::sgd, 1e-3f, 20},
};

class GpuTraining : public testing::TestWithParam<std::tuple<std::string, TrainingCase>> {};

TEST_P(GpuTraining, FollowsTheCpu) {
  const auto& [name, one] = GetParam();
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "takes many minutes under a thread sanitizer";
#endif
  const auto gpu = make_backend(name), cpu = make_backend("cpu");
  if (gpu->probe().devices.empty()) GTEST_SKIP() << gpu->probe().reason;
  const Program forward = build_model(find_model(one.model), one.options, one.batch, Mode::train);
  const Program training = training_program(forward, {.weight_decay = 0.01, .kind = one.optimizer, .clip_norm = 1});
  const TrainingOptions options{.steps = one.steps, .learning_rate = one.learning_rate};
  const TrainingRun got = train(*gpu, training, options), wanted = train(*cpu, training, options);
  for (size_t i = 0; i < wanted.results.size(); ++i) {
    EXPECT_TRUE(got.results[i].finite);
    EXPECT_NEAR(got.results[i].loss, wanted.results[i].loss, 1e-4 * std::abs(wanted.results[i].loss)) << "step " << i;
  }
  EXPECT_NE(got.results.front().loss, got.results.back().loss);
}

std::vector<std::string> gpu_backends() {
  std::vector<std::string> names;
  for (const std::string& name : other_device_backends())
    if (name.starts_with("cuda")) names.push_back(name);
  return names;
}

std::string training_name(const testing::TestParamInfo<GpuTraining::ParamType>& each) {
  std::string name = test_name(std::get<0>(each.param) + "_" + std::get<1>(each.param).model);
  return name;
}

INSTANTIATE_TEST_SUITE_P(Backend, GpuTraining,
                         testing::Combine(testing::ValuesIn(gpu_backends()), testing::ValuesIn(trainings)), training_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuTraining);

}  // namespace
}  // namespace gpusizer
