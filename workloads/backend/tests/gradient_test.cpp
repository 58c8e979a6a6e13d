// SPDX-License-Identifier: Apache-2.0
// The reference backend's gradients against central differences of its loss, in double, for every operation case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/backend/reference/reference_backend.hpp"
#include "workloads/backend/reference/reference_executor.hpp"
#include "workloads/backend/tests/operation_cases.hpp"
#include "workloads/backend/tests/training_run.hpp"
#include "workloads/program/autodiff.hpp"
#include "workloads/program/facts.hpp"

namespace gpusizer {
namespace {

class Gradient : public testing::TestWithParam<OperationCase> {};

std::vector<TensorId> image_inputs(const Program& p) {
  std::vector<TensorId> ids;
  for (const Tensor& t : p.tensors)
    if (t.role == Role::input && t.dtype == DType::f32) ids.push_back(t.id);
  return ids;
}

// Elements of a tensor to try: all of a small one, else some that lie evenly; fewer where a step is long.
size_t stride_through(size_t elements, const Program& forward) {
  const int64_t macs = std::max<int64_t>(1, facts(forward).forward_macs_per_sample * forward.batch);
  const auto count = static_cast<size_t>(std::clamp<int64_t>(5'000'000 / macs, 5, 60));
  return std::max<size_t>(1, elements / count);
}

double loss_at(ReferenceExecutor& executor, double& value, double at) {
  const double before = std::exchange(value, at);
  executor.enqueue(1, {});
  value = before;
  return executor.collect()->loss;
}

double root_mean_square(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double slope(ReferenceExecutor& executor, double& value, double step) {
  const double x = value;
  return (loss_at(executor, value, x + step) - loss_at(executor, value, x - step)) / (2 * step);
}

// Compares one leaf's gradient with slopes over two step sizes. Where those two disagree a kink (a ReLU's zero, two
// equal maxima) lies within the step and there is no slope to compare with; returns how many elements that were.
struct Counts {
  int compared = 0, kinks = 0;
};

Counts compare(ReferenceExecutor& executor, std::span<const double> claimed, std::span<double> values, double scale,
               size_t stride) {
  Counts counts;
  const double tolerance = 1e-6 * scale;
  for (size_t i = 0; i < values.size(); i += stride) {
    const double wide = slope(executor, values[i], 2e-5), narrow = slope(executor, values[i], 5e-6);
    if (std::abs(wide - narrow) > tolerance / 2) {
      ++counts.kinks;
      continue;
    }
    ++counts.compared;
    EXPECT_NEAR(claimed[i], narrow, tolerance) << "element " << i;
  }
  return counts;
}

TEST_P(Gradient, AgreesWithFiniteDifferences) {
  const Program forward = GetParam().build();
  const Differentiated d = differentiate(forward, image_inputs(forward));
  ReferenceExecutor executor{{lower(d.program, reference_target()), lower(forward, reference_target())}};
  write_test_values(executor, 2, 5);
  const Feed feed{d.program, 5, 0, 0}, same{forward, 5, 0, 0};
  executor.enqueue(0, feed.inputs());
  executor.enqueue(1, same.inputs());
  executor.collect();
  executor.collect();
  double largest = 0;
  for (const auto& [leaf, gradient] : d.gradients)
    largest = std::max(largest, root_mean_square(executor.values(0, gradient)));
  EXPECT_GT(largest, 1e-3);
  for (const auto& [leaf, gradient] : d.gradients) {
    SCOPED_TRACE(forward.tensor(leaf).name);
    const auto claimed = executor.values(0, gradient), values = executor.values(1, leaf);
    ASSERT_EQ(claimed.size(), values.size());
    const double scale = std::max(root_mean_square(claimed), 0.01 * largest);
    const Counts counts = compare(executor, claimed, values, scale, stride_through(values.size(), forward));
    EXPECT_GT(counts.compared, 4 * counts.kinks);
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, Gradient, testing::ValuesIn(operation_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace gpusizer
