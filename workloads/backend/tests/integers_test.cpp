// SPDX-License-Identifier: Apache-2.0
// Every operation case in eight-bit integers: every backend against the reference, and the reference against f32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gpusizer/error.hpp"
#include "workloads/backend/tests/operation_cases.hpp"
#include "workloads/backend/tests/training_run.hpp"
#include "workloads/transforms/quantization.hpp"

namespace gpusizer {
namespace {

constexpr uint64_t seed = 5;

std::unique_ptr<Executor> executor_of(const Backend& backend, const Program& program) {
  const Device device = backend.probe().devices.at(0);
  return backend.make_executor({lower(program, backend.target(device))}, device);
}

StepResult run(Executor& executor, const Program& program) {
  const Feed feed{program, seed, 0, 0};
  executor.enqueue(0, feed.inputs());
  return executor.collect().value();
}

struct Observed {
  TensorValues values;  // with the ranges
  double loss = 0;      // in f32
};

Observed observe(const Backend& backend, const Program& forward) {
  const Program calibration = observe_ranges(forward);
  const auto executor = executor_of(backend, calibration);
  write_test_values(*executor, 1, seed);
  for (const Tensor& t : calibration.tensors)
    if (t.name.ends_with(":range")) executor->write(t.name, std::vector<float>{0});
  const Values persistent = read_persistent(*executor, 0);
  Observed seen{{persistent.begin(), persistent.end()}, run(*executor, calibration).loss};
  for (const Tensor& t : calibration.tensors)
    if (t.name.ends_with(":range")) executor->read(t.name, seen.values.find(t.name)->second);
  return seen;
}

StepResult run_quantized(const Backend& backend, const Program& quantized, const TensorValues& values) {
  const auto executor = executor_of(backend, quantized);
  for (const Tensor& t : executor->program(0).program.tensors)
    if (is_persistent(t.role) && t.role != Role::scalar &&
        executor->program(0).tensor_bytes[static_cast<size_t>(t.id.index)] > 0)
      executor->write(t.name, values_of(values, t.name));
  return run(*executor, quantized);
}

// The loss in integers; nothing where this machine cannot sum them exactly, and says so.
std::optional<double> loss_if_possible(const Backend& backend, const Program& quantized, const TensorValues& values) {
  try {
    return run_quantized(backend, quantized, values).loss;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::environment) << error.what();
    return std::nullopt;
  }
}

class Integers : public testing::TestWithParam<OperationCase> {};

TEST_P(Integers, AgreeWithTheReferenceAndAreCloseToF32) {
  const Program forward = GetParam().build();
  const auto reference = make_backend("reference");
  Observed seen = observe(*reference, forward);
  const Program quantized = quantize(forward, seen.values, 0);
  const double wanted = run_quantized(*reference, quantized, seen.values).loss;
  EXPECT_NEAR(wanted, seen.loss, 0.1 * std::abs(seen.loss) + 0.02);
  for (const std::string& name : other_backends()) {
    const auto backend = make_backend(name);
    if (backend->probe().devices.empty()) continue;
    SCOPED_TRACE(name);
    if (const auto loss = loss_if_possible(*backend, quantized, seen.values)) {
      EXPECT_NEAR(*loss, wanted, 2e-3 * std::abs(wanted));
    }
    const Observed other = observe(*backend, forward);
    for (const auto& [tensor, range] : other.values)
      if (tensor.ends_with(":range")) {
        EXPECT_NEAR(range[0], values_of(seen.values, tensor)[0], 1e-4 * range[0]) << tensor;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Case, Integers, testing::ValuesIn(operation_cases()),
                         [](const auto& each) { return each.param.name; });

// A batch that the weights are not laid out for reads them all the same.
TEST(Integers, ProgramsOfSeveralBatchesShareTheirWeights) {
  const auto is_conv = [](const OperationCase& c) { return c.name.starts_with("residual"); };
  const Program forward = std::ranges::find_if(operation_cases(), is_conv)->build();
  const auto reference = make_backend("reference"), cpu = make_backend("cpu");
  Observed seen = observe(*reference, forward);
  const double wanted = run_quantized(*reference, quantize(forward, seen.values, 0), seen.values).loss;
  for (const int64_t batch : {1, 7, 64})
    if (const auto loss = loss_if_possible(*cpu, quantize(forward, seen.values, batch), seen.values)) {
      EXPECT_NEAR(*loss, wanted, 2e-3 * wanted) << batch;
    }
}

}  // namespace
}  // namespace gpusizer
