// SPDX-License-Identifier: Apache-2.0
// Fused programs compute what the plain ones do: both on the reference backend, to the last digits of double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "workloads/backend/reference/reference_backend.hpp"
#include "workloads/backend/reference/reference_executor.hpp"
#include "workloads/backend/tests/operation_cases.hpp"
#include "workloads/backend/tests/training_run.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

class Fusion : public testing::TestWithParam<OperationCase> {};

size_t forward_operations(const Program& p) {
  return static_cast<size_t>(std::ranges::count(p.operations, Phase::forward, &Operation::phase));
}

TEST_P(Fusion, KeepsTheNumbers) {
  const Program training = training_program(GetParam().build(), {.momentum = 0.9, .weight_decay = 1e-2});
  ReferenceExecutor plain{{lower(training, reference_target())}}, fused{{lower(training, reference_fused_target())}};
  const bool fewer = forward_operations(fused.program(0).program) < forward_operations(plain.program(0).program);
  EXPECT_EQ(fewer, GetParam().fuses);
  write_test_values(plain, 1, 7);
  write_test_values(fused, 1, 7);
  for (int step = 0; step < 2; ++step) {
    const Feed feed{training, 7, step, 0.05f};
    plain.enqueue(0, feed.inputs());
    fused.enqueue(0, feed.inputs());
    const auto a = plain.collect(), b = fused.collect();
    EXPECT_NEAR(b->loss, a->loss, 1e-12 * std::abs(a->loss));
    EXPECT_EQ(b->correct, a->correct);
  }
  for (const Tensor& t : training.tensors) {
    if (!is_persistent(t.role)) continue;
    const auto a = plain.values(0, t.id), b = fused.values(0, t.id);
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(b[i], a[i], 1e-12 * (1 + std::abs(a[i]))) << t.name << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, Fusion, testing::ValuesIn(operation_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace gpusizer
