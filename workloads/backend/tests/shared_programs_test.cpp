// SPDX-License-Identifier: Apache-2.0
// Several programs in one executor: training, its tail batch and evaluation share parameters and statistics by name.
#include <gtest/gtest.h>

#include "gpusizer/error.hpp"
#include "workloads/backend/tests/training_run.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

constexpr int training = 0, tail = 1, evaluation = 2, program_count = 3;

// A small network of everything that differs between training and evaluation.
Program network(int64_t batch, bool train) {
  ProgramBuilder b{train ? "train" : "evaluate", batch};
  TensorId x = b.input("images", {batch, 3, 8, 8});
  const TensorId labels = b.input("labels", {batch}, DType::i32);
  x = conv2d(b, "conv1", x, {.channels = 16, .kernel = 3, .padding = 1});
  x = relu(b, "relu1", batch_norm(b, "bn1", x, train));
  const TensorId y = batch_norm(b, "bn2", conv2d(b, "conv2", x, {.channels = 16, .kernel = 3, .padding = 1}), train);
  x = relu(b, "relu2", add(b, "add", y, x));
  x = flatten(b, "flatten", global_avg_pool(b, "pool", batch_norm(b, "bn3", x, train)));
  if (train) x = dropout(b, "drop", x, 0.2);
  classification_loss(b, linear(b, "fc", x, 7), labels);
  return b.finish();
}

struct History {
  Values trained, evaluated, tailed;  // after training, after an evaluation, after a step of the tail batch
  StepResult evaluation_result, tail_result;
};

StepResult run_once(Executor& executor, int program, uint64_t seed, int step) {
  const Feed feed{executor.program(program).program, seed, step, 0.05f};
  executor.enqueue(program, feed.inputs());
  return executor.collect().value();
}

History run_all(const Backend& backend) {
  const Device device = backend.probe().devices.at(0);
  const Target target = backend.target(device);
  const OptimizerOptions sgd{.momentum = 0.9, .weight_decay = 1e-3};
  const auto executor = backend.make_executor({lower(training_program(network(6, true), sgd), target),
                                               lower(training_program(network(3, true), sgd), target),
                                               lower(network(4, false), target)}, device);
  write_test_values(*executor, program_count, 3);
  for (int step = 0; step < 2; ++step) run_once(*executor, training, 3, step);
  History run;
  run.trained = read_persistent(*executor, training);
  run.evaluation_result = run_once(*executor, evaluation, 4, 0);
  run.evaluated = read_persistent(*executor, training);
  run.tail_result = run_once(*executor, tail, 5, 2);
  run.tailed = read_persistent(*executor, training);
  return run;
}

class SharedPrograms : public testing::TestWithParam<std::string> {};

TEST_P(SharedPrograms, EvaluationChangesNothingAndTheTailChangesWhatTrainingSees) {
  const auto backend = make_backend(GetParam());
  if (backend->probe().devices.empty()) GTEST_SKIP() << backend->probe().reason;
  if (const std::string why = refusal_of(*backend, network(4, false)); !why.empty()) GTEST_SKIP() << why;
  const History run = run_all(*backend);
  EXPECT_EQ(run.evaluated, run.trained);
  for (const auto& [name, values] : run.trained) EXPECT_NE(run.tailed.at(name), values) << name;
}

TEST_P(SharedPrograms, AgreeWithTheReference) {
  const auto backend = make_backend(GetParam());
  if (backend->probe().devices.empty()) GTEST_SKIP() << backend->probe().reason;
  if (const std::string why = refusal_of(*backend, network(4, false)); !why.empty()) GTEST_SKIP() << why;
  const History got = run_all(*backend), wanted = run_all(*make_backend("reference"));
  EXPECT_NEAR(got.evaluation_result.loss, wanted.evaluation_result.loss, 1e-4 * wanted.evaluation_result.loss);
  EXPECT_EQ(got.evaluation_result.correct, wanted.evaluation_result.correct);
  EXPECT_NEAR(got.tail_result.loss, wanted.tail_result.loss, 1e-4 * wanted.tail_result.loss);
  expect_close(got.tailed, wanted.tailed, 1e-3);
}

TEST_P(SharedPrograms, RefuseToDisagreeAboutATensor) {
  const auto backend = make_backend(GetParam());
  if (backend->probe().devices.empty()) GTEST_SKIP() << backend->probe().reason;
  if (const std::string why = refusal_of(*backend, network(4, false)); !why.empty()) GTEST_SKIP() << why;
  const Device device = backend->probe().devices.at(0);
  const auto lowered = [&](int64_t features) {
    ProgramBuilder b{"case", 2};
    const TensorId x = b.input("images", {2, 3}), labels = b.input("labels", {2}, DType::i32);
    classification_loss(b, linear(b, "fc", x, features), labels);
    return lower(b.finish(), backend->target(device));
  };
  try {
    backend->make_executor({lowered(4), lowered(5)}, device);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::usage);
    EXPECT_NE(std::string(e.what()).find("fc."), std::string::npos) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Backend, SharedPrograms, testing::ValuesIn(all_device_backends()),
                         [](const auto& each) { return test_name(each.param); });

}  // namespace
}  // namespace gpusizer
