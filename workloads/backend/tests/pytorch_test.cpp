// SPDX-License-Identifier: Apache-2.0
// Whole models against PyTorch: the first losses and gradient norms from the same weights and inputs, on every backend.
// The numbers and the script that made them are in workloads/models/tests/torch.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "workloads/backend/tests/training_run.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

constexpr int steps = 3;

struct Expected {
  std::string name, model, kind;  // kind: the head or the loss
  int64_t batch;
  std::string optimizer;
  double rate, clip;
  double losses[steps], norms[steps];
  std::vector<std::pair<std::string, double>> first;  // norm of each parameter's gradient in the first step
  friend void PrintTo(const Expected& e, std::ostream* out) { *out << e.name; }
};

const Expected table[] = {
#include "workloads/models/tests/torch/expected.inc"
};

// The sizes of make_expected.py.
ModelOptions options_of(const Expected& e) {
  if (e.model == "resnet8") return {.classes = 10, .image_size = 16, .channels = 1, .stem = "cifar"};
  if (e.model == "bert-mini")
    return {.classes = 3, .layers = 2, .hidden = 32, .heads = 2, .feed_forward = 64, .vocabulary = 50, .sequence = 16,
            .predictions = 4, .head = e.kind};
  return {.layers = 2, .hidden = 16, .heads = 2, .feed_forward = 32, .window = 12, .horizon = 4, .features = 3,
          .loss = e.kind};
}

// Dropout is off in evaluation, and so would batch norm's own statistics be: resnet8 has those and no dropout.
Program training_of(const Expected& e) {
  const Mode mode = e.model == "resnet8" ? Mode::train : Mode::evaluate;
  const bool sgd = e.optimizer == "sgd";
  return training_program(build_model(find_model(e.model), options_of(e), e.batch, mode),
                          {.momentum = 0.9, .weight_decay = sgd ? 0 : 0.01, .kind = optimizer_kind(e.optimizer),
                           .clip_norm = e.clip > 0 ? e.clip : 1e30});
}

int64_t limit_of(const std::string& input, const ModelOptions& o) {
  if (input == "input_ids" || input == "mlm_labels") return o.vocabulary;
  if (input == "lengths" || input == "mlm_positions") return o.sequence / 2;
  return input == "labels" ? o.classes : 2;
}

// The inputs of make_expected.py: numbers() and whole().
class Inputs {
 public:
  Inputs(const Program& p, const Expected& e, int step) : rate_(static_cast<float>(e.rate)) {
    for (const Tensor& t : p.tensors) {
      if (t.name == "learning_rate") bindings_.push_back({t.id, &rate_});
      if (t.role != Role::input) continue;
      const bool numbers = t.dtype == DType::f32;
      bindings_.push_back({t.id, numbers ? static_cast<const void*>(add_numbers(t, step)) : add_whole(t, options_of(e), step)});
    }
  }
  StepInputs bindings() const { return bindings_; }

 private:
  const float* add_numbers(const Tensor& t, int step) {
    auto& values = floats_.emplace_back();
    const auto shift = 11 * step + 5 * static_cast<int64_t>(t.name.size());
    for (int64_t i = 0; i < element_count(t.shape); ++i)
      values.push_back(static_cast<float>((i * 37 + shift) % 101 - 50) / 32);
    return values.data();
  }

  const int32_t* add_whole(const Tensor& t, const ModelOptions& o, int step) {
    auto& values = integers_.emplace_back();
    const auto shift = 3 * step + static_cast<int64_t>(t.name.size());
    for (int64_t i = 0; i < element_count(t.shape); ++i) {
      const int64_t value = (i * 7 + shift) % limit_of(t.name, o);
      const bool gap = t.name == "mlm_labels" && i % 3 == 1;
      values.push_back(static_cast<int32_t>(gap ? -1 : t.name == "lengths" ? o.sequence - value : value));
    }
    return values.data();
  }

  float rate_;
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<int32_t>> integers_;
  std::vector<Binding> bindings_;
};

double norm_of(const std::vector<float>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

double output_of(const Program& p, const StepResult& result, const char* name) {
  for (size_t i = 0; i < p.outputs.size(); ++i)
    if (p.outputs[i].name == name) return result.outputs[i];
  ADD_FAILURE() << "no output " << name;
  return 0;
}

// After the first step a momentum is the gradient. Keys' biases have none but rounding: all scores of a query move alike.
void expect_first_gradients(Executor& executor, const Expected& e) {
  for (const auto& [parameter, wanted] : e.first) {
    const Tensor* momentum = executor.program(0).program.find(parameter + ":momentum");
    ASSERT_TRUE(momentum) << parameter;
    std::vector<float> values(static_cast<size_t>(element_count(momentum->shape)));
    executor.read(momentum->name, values);
    EXPECT_NEAR(norm_of(values), wanted, 1e-4 * wanted + 1e-6 * e.norms[0]) << parameter;
  }
}

class PyTorch : public testing::TestWithParam<std::tuple<std::string, Expected>> {};

TEST_P(PyTorch, FirstLossesAndGradientNormsAgree) {
  const auto& [name, e] = GetParam();
  const auto backend = make_backend(name);
  const Probe probe = backend->probe();
  if (probe.devices.empty()) GTEST_SKIP() << probe.reason;
  const Program training = training_of(e);
  const auto executor = backend->make_executor({lower(training, backend->target(probe.devices[0]))}, probe.devices[0]);
  initialize(*executor, 1, 1);
  for (int step = 0; step < steps; ++step) {
    const Inputs inputs{training, e, step};
    executor->enqueue(0, inputs.bindings());
    const StepResult result = executor->collect().value();
    EXPECT_NEAR(result.loss, e.losses[step], 1e-4 * e.losses[step]) << "step " << step;
    EXPECT_NEAR(output_of(training, result, "gradient_norm"), e.norms[step], 1e-4 * e.norms[step]) << "step " << step;
    if (step == 0 && e.optimizer == "sgd") expect_first_gradients(*executor, e);
  }
}

TEST(PyTorchNumbers, HaveAllParametersOfTheModels) {
  for (const Expected& e : table) {
    const Program p = training_of(e);
    size_t parameters = 0;
    for (const Tensor& t : p.tensors) parameters += t.role == Role::parameter;
    EXPECT_EQ(e.first.size(), parameters) << e.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Backend, PyTorch, testing::Combine(testing::ValuesIn(all_backends()), testing::ValuesIn(table)),
                         [](const auto& each) { return std::get<0>(each.param) + "_" + std::get<1>(each.param).name; });

}  // namespace
}  // namespace gpusizer
