// SPDX-License-Identifier: Apache-2.0
// Every operation case in every emulated precision on every backend against the reference, which rounds the same tensors.
#include <gtest/gtest.h>

#include <cmath>

#include "workloads/backend/reference/reference_backend.hpp"
#include "workloads/backend/tests/operation_cases.hpp"
#include "workloads/backend/tests/training_run.hpp"
#include "workloads/program/autodiff.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/mixed_precision.hpp"

namespace gpusizer {
namespace {

Program training_in(const Program& forward, Precision precision) {
  const Differentiated step = mixed_precision(differentiate(forward), precision);
  return add_optimizer(step.program, step.gradients, {.momentum = 0.9, .weight_decay = 0});
}

// One step; then the gradients are the momenta.
Values gradients(const Backend& backend, const Program& training, const Target& target) {
  const auto executor = backend.make_executor({lower(training, target)}, backend.probe().devices.at(0));
  write_test_values(*executor, 1, 1);
  if (training.find("loss_scale")) executor->write("loss_scale", std::vector{256.0f});
  const Feed feed{training, 1, 0, 0.01f};
  executor->enqueue(0, feed.inputs());
  EXPECT_TRUE(executor->collect()->finite);
  Values all = read_persistent(*executor, 0), result;
  for (auto& [name, values] : all)
    if (name.ends_with(":momentum")) result[name] = std::move(values);
  return result;
}

double distance(const Values& a, const Values& b) {
  double sum = 0;
  for (const auto& [name, values] : a)
    for (size_t i = 0; i < values.size(); ++i) sum += std::pow(double{values[i]} - double{b.at(name)[i]}, 2);
  return std::sqrt(sum);
}

// How far the backend is from the reference, as a share of what rounding as such does to the gradients: 0 where every value
// is rounded alike, 1 where nothing is rounded. What f32 arithmetic changes tips a rounding over now and then.
double share_missed(const Backend& backend, const Program& forward, Precision precision) {
  const auto reference = make_backend("reference");
  const Target fused = reference_fused_target();  // a fused operation rounds its last result only
  const Program training = training_in(forward, precision);
  const Values got = gradients(backend, training, backend.target(backend.probe().devices.at(0)));
  const Values wanted = gradients(*reference, training, fused);
  const double effect = distance(wanted, gradients(*reference, training_in(forward, Precision::fp32), fused));
  EXPECT_GT(effect, 0);
  return distance(got, wanted) / effect;
}

class Precisions : public testing::TestWithParam<std::tuple<std::string, Precision>> {};

TEST_P(Precisions, RoundAsTheReferenceDoes) {
  const auto& [name, precision] = GetParam();
  const auto backend = make_backend(name);
  if (backend->probe().devices.empty()) GTEST_SKIP() << backend->probe().reason;
  std::string unlike;
  int count = 0;
  for (const OperationCase& one : operation_cases()) {
    SCOPED_TRACE(one.name);
    if (!refusal_of(*backend, training_in(one.build(), precision)).empty()) continue;  // said by the operations' own tests
    const double missed = share_missed(*backend, one.build(), precision);
    // A GPU multiplies by probabilities that are rounded, inside the operation.
    EXPECT_LT(missed, name.starts_with("cuda") && one.name.starts_with("attention") ? 1.5 : 0.9);
    if (missed < 0.1) continue;
    unlike += one.name + " ";
    ++count;
  }
  EXPECT_LE(count, static_cast<int>(operation_cases().size()) / 10) << unlike;
}

std::string case_name(const testing::TestParamInfo<Precisions::ParamType>& each) {
  return test_name(std::get<0>(each.param)) + "_" + std::string(to_string(std::get<1>(each.param)));
}

INSTANTIATE_TEST_SUITE_P(Backend, Precisions,
                         testing::Combine(testing::ValuesIn(other_device_backends()),
                                          testing::Values(Precision::fp16, Precision::bf16, Precision::tf32)),
                         case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Precisions);

}  // namespace
}  // namespace gpusizer
