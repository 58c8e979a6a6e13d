// SPDX-License-Identifier: Apache-2.0
// Whole models, small images: three training steps on every backend against the reference.
#include <gtest/gtest.h>

#include <ostream>

#include "workloads/backend/tests/training_run.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

struct ModelCase {
  std::string model;
  ModelOptions options;
  int64_t batch;
  float learning_rate;
  double first, last;  // what gradients may differ by after the first step; and everything after the last one
  friend void PrintTo(const ModelCase& c, std::ostream* out) { *out << c.model; }
};

// ResNet-50 with two images of 64 x 64 has batch norms over eight values, and gradients a thousand times its weights:
// the reference's own gradients move by 3 % when its parameters are changed by 3e-7 of themselves, and by 37 % after
// three steps with a learning rate of 1e-6. So its parameters stay here; its updates are those of the other models.
const ModelCase cases[] = {
    {"resnet8", {10, 28, 1, "cifar"}, 2, 2e-4f, 1e-3, 1e-2},
    {"resnet18", {10, 32, 1, "cifar"}, 2, 2e-4f, 1e-2, 1e-1},
    {"resnet50", {10, 64, 3, "imagenet"}, 2, 0, 3e-2, 3e-2},
    {"alexnet", {10, 64, 3, ""}, 2, 2e-4f, 1e-3, 1e-2},
};

Values statistics(const Values& values) {
  Values result;
  for (const auto& [name, one] : values)
    if (name.find(".running_") != std::string::npos) result[name] = one;
  return result;
}

class WholeModels : public testing::TestWithParam<std::tuple<std::string, ModelCase>> {};

TEST_P(WholeModels, TrainAsTheReferenceDoes) {
  const auto& [name, one] = GetParam();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (one.model == "resnet18" || one.model == "resnet50") GTEST_SKIP() << "takes minutes under a sanitizer";
#endif
  const auto backend = make_backend(name), reference = make_backend("reference");
  if (backend->probe().devices.empty()) GTEST_SKIP() << backend->probe().reason;
  const Program forward = build_model(find_model(one.model), one.options, one.batch, Mode::train);
  const Program training = training_program(forward, {.momentum = 0.9, .weight_decay = 0});
  if (const std::string why = refusal_of(*backend, training); !why.empty()) GTEST_SKIP() << why;
  const TrainingOptions options{.learning_rate = one.learning_rate};
  const TrainingRun got = train(*backend, training, options), wanted = train(*reference, training, options);
  for (size_t i = 0; i < wanted.results.size(); ++i) {
    EXPECT_TRUE(got.results[i].finite);
    EXPECT_NEAR(got.results[i].loss, wanted.results[i].loss, 1e-3 * wanted.results[i].loss) << "step " << i;
  }
  expect_close_on_average(statistics(got.after_first), statistics(wanted.after_first), 1e-3);
  expect_close_on_average(got.after_first, wanted.after_first, one.first);
  expect_close_on_average(got.after_last, wanted.after_last, one.last);
}

INSTANTIATE_TEST_SUITE_P(Backend, WholeModels,
                         testing::Combine(testing::ValuesIn(other_device_backends()), testing::ValuesIn(cases)),
                         [](const auto& each) { return test_name(std::get<0>(each.param)) + "_" + std::get<1>(each.param).model; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WholeModels);

}  // namespace
}  // namespace gpusizer
