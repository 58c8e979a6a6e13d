// SPDX-License-Identifier: Apache-2.0
// What every executor promises, on every backend: refusals that name the tensor, the order of results, repeatability.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "gpusizer/error.hpp"
#include "workloads/backend/tests/operation_cases.hpp"
#include "workloads/backend/tests/training_run.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

Program case_named(const std::string& name) {
  for (const OperationCase& c : operation_cases())
    if (c.name == name) return training_program(c.build(), {});
  throw std::out_of_range(name);
}

class ExecutorContract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    backend_ = make_backend(GetParam());
    const Probe probe = backend_->probe();
    if (probe.devices.empty()) GTEST_SKIP() << probe.reason;
    device_ = probe.devices[0];
    program_ = case_named("residual_wide");
    if (const std::string why = refusal_of(*backend_, program_); !why.empty()) GTEST_SKIP() << why;
    executor_ = executor_of(program_);
    initialize(*executor_, 1, 1);
  }

  std::unique_ptr<Executor> executor_of(const Program& p) const {
    return backend_->make_executor({lower(p, backend_->target(device_))}, device_);
  }
  // What the executor says to something that cannot be.
  std::string refusal(const std::function<void()>& call, Fault fault = Fault::usage) const {
    try {
      call();
    } catch (const Error& e) {
      EXPECT_EQ(e.fault(), fault) << e.what();
      return e.what();
    }
    ADD_FAILURE() << "was accepted";
    return "";
  }
  TensorId id(const std::string& name) const { return program_.find(name)->id; }

  std::unique_ptr<Backend> backend_;
  Device device_;
  Program program_;
  std::unique_ptr<Executor> executor_;
};

TEST_P(ExecutorContract, WritesAndReadsBackRowMajor) {
  for (const char* name : {"a.conv.weight", "pre.bias", "a.bn.running_var", "tail.weight", "tail.weight:momentum"}) {
    std::vector<float> values(static_cast<size_t>(element_count(program_.find(name)->shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) + 0.5f;
    executor_->write(name, values);
    std::vector<float> back(values.size());
    executor_->read(name, back);
    EXPECT_EQ(back, values) << name;
  }
}

TEST_P(ExecutorContract, InitializeWritesEveryPersistentTensor) {
  for (const auto& [name, values] : read_persistent(*executor_, 0)) {
    const Tensor& t = *program_.find(name);
    if (t.initial.kind == Initializer::Kind::constant) {
      EXPECT_EQ(values, std::vector(values.size(), static_cast<float>(t.initial.value))) << name;
    }
    for (const float v : values) ASSERT_TRUE(std::isfinite(v)) << name;
  }
}

TEST_P(ExecutorContract, RefusesWrongSizesAndUnknownTensors) {
  std::vector<float> one(1), many(100'000);
  for (std::vector<float>* wrong : {&one, &many}) {
    EXPECT_NE(refusal([&] { executor_->write("a.conv.weight", *wrong); }).find("a.conv.weight"), std::string::npos);
    EXPECT_NE(refusal([&] { executor_->read("a.conv.weight", *wrong); }).find("a.conv.weight"), std::string::npos);
  }
  EXPECT_NE(refusal([&] { executor_->write("a.conf.weight", one); }).find("a.conf.weight"), std::string::npos);
  EXPECT_NE(refusal([&] { executor_->read("images", one); }).find("images"), std::string::npos);
}

TEST_P(ExecutorContract, RefusesRunsThatCannotBe) {
  const Feed feed{program_, 1, 0, 0.1f};
  refusal([&] { executor_->enqueue(1, feed.inputs()); });
  refusal([&] { executor_->enqueue(-1, feed.inputs()); });
  EXPECT_NE(refusal([&] { executor_->enqueue(0, {}); }).find("images"), std::string::npos);
  const float value = 0;
  for (const Binding& wrong : {Binding{id("a.conv.weight"), &value}, Binding{id("images"), nullptr}, Binding{{999'999}, &value}})
    refusal([&] { executor_->enqueue(0, std::vector{wrong}); });
  EXPECT_FALSE(executor_->collect());
}

TEST_P(ExecutorContract, RefusesALabelThatIsNoClass) {
  const Feed feed{program_, 1, 0, 0.1f};
  for (const int32_t label : {-1, 5}) {
    std::vector<int32_t> labels(static_cast<size_t>(program_.batch), label);
    std::vector<Binding> inputs(feed.inputs().begin(), feed.inputs().end());
    inputs.push_back({id("labels"), labels.data()});
    const std::string text = refusal([&] { executor_->enqueue(0, inputs); executor_->collect(); }, Fault::input);
    EXPECT_NE(text.find(std::to_string(label)), std::string::npos) << text;
  }
}

TEST_P(ExecutorContract, CollectsInOrderAndNothingOfNothing) {
  EXPECT_FALSE(executor_->collect());
  const Feed first{program_, 1, 0, 0.1f}, second{program_, 1, 1, 0.1f};
  executor_->enqueue(0, first.inputs());
  executor_->enqueue(0, second.inputs());
  const auto a = executor_->collect(), b = executor_->collect();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->step, 0);
  EXPECT_EQ(b->step, 1);
  EXPECT_NE(a->loss, b->loss);
  EXPECT_GT(a->device_seconds, 0);
  EXPECT_FALSE(executor_->collect());
}

TEST_P(ExecutorContract, UnboundInputsKeepTheirBinding) {
  const Feed feed{program_, 1, 0, 0};  // a learning rate of 0: the same step again
  executor_->enqueue(0, feed.inputs());
  const StepResult first = executor_->collect().value();
  executor_->enqueue(0, {});
  EXPECT_EQ(executor_->collect()->loss, first.loss);
}

TEST_P(ExecutorContract, TheSameSeedGivesTheSameCurveBitForBit) {
  for (const char* name : {"residual_wide", "dropout_wide", "conv_3x3_wide"}) {
    const Program training = case_named(name);
    const TrainingRun a = train(*backend_, training, {.steps = 5}), b = train(*backend_, training, {.steps = 5});
    for (size_t i = 0; i < a.results.size(); ++i) EXPECT_EQ(a.results[i].loss, b.results[i].loss) << name;
    EXPECT_EQ(a.after_last, b.after_last) << name;
    const TrainingRun other = train(*backend_, training, {.steps = 1, .seed = 2});
    EXPECT_NE(other.results[0].loss, a.results[0].loss) << name;
  }
}

TEST_P(ExecutorContract, ReportsALossThatIsNotFinite) {
  Program forward = case_named("linear");
  const auto executor = executor_of(forward);
  initialize(*executor, 1, 1);
  std::vector<float> bias(5, 0);
  bias[0] = std::numeric_limits<float>::quiet_NaN();
  executor->write("tail.bias", bias);
  const Feed feed{forward, 1, 0, 0.1f};
  executor->enqueue(0, feed.inputs());
  EXPECT_FALSE(executor->collect()->finite);
}

// A value that is no number must not be lost on its way, by a ReLU or a maximum say: it would look like training.
TEST_P(ExecutorContract, NotANumberInTheImagesReachesTheLoss) {
  for (const char* name : {"residual_wide", "conv_relu", "max_pool_2x2", "linear", "avg_pool_3x3_padded", "plain_relu"}) {
    const Program p = case_named(name);
    const auto executor = executor_of(p);
    initialize(*executor, 1, 1);
    const Tensor& images = *p.find("images");
    const std::vector<float> nothing(static_cast<size_t>(element_count(images.shape)), std::numeric_limits<float>::quiet_NaN());
    const Feed feed{p, 1, 0, 0.1f};
    std::vector<Binding> inputs(feed.inputs().begin(), feed.inputs().end());
    inputs.push_back({images.id, nothing.data()});
    executor->enqueue(0, inputs);
    EXPECT_FALSE(executor->collect()->finite) << name;
  }
}

TEST_P(ExecutorContract, ProfilesEveryOperation) {
  const Feed feed{program_, 1, 0, 0.1f};
  const auto times = executor_->profile(0, feed.inputs());
  ASSERT_EQ(times.size(), executor_->program(0).program.operations.size());
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i].operation, static_cast<int32_t>(i));
    EXPECT_GE(times[i].seconds, 0);
  }
  EXPECT_FALSE(executor_->collect());
}

TEST_P(ExecutorContract, HoldsAtLeastItsPersistentTensors) {
  int64_t bytes = 0;
  for (const Tensor& t : program_.tensors)
    if (is_persistent(t.role)) bytes += element_count(t.shape) * element_bytes(t.dtype);
  EXPECT_GE(executor_->allocated_bytes(), bytes);
}

TEST_P(ExecutorContract, RefusesProgramsOfAnotherTarget) {
  LoweredProgram lowered = lower(program_, backend_->target(device_));
  lowered.target = "elsewhere";
  EXPECT_NE(refusal([&] { backend_->make_executor({lowered}, device_); }).find("elsewhere"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backend, ExecutorContract, testing::ValuesIn(all_device_backends()),
                         [](const auto& each) { return test_name(each.param); });

}  // namespace
}  // namespace gpusizer
