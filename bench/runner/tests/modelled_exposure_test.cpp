// SPDX-License-Identifier: Apache-2.0
// The waiting for communication on a step that can be worked out by hand.
#include "bench/runner/modelled_exposure.hpp"

#include <gtest/gtest.h>

#include "workloads/program/builder.hpp"

namespace gpusizer {
namespace {

// Two results of one second each, each summed over two ranks, then read.
Program two_sums() {
  ProgramBuilder b{"two sums", 1};
  const CollectiveAttributes ranks{.rank = 0, .ranks = {0, 1}};
  const TensorId x = b.input("x", {100});
  const TensorId first = b.apply(OpKind::relu, "first", {x})[0];
  const TensorId sum1 = b.apply(OpKind::all_reduce, "sum1", {first}, ranks, Phase::communicate)[0];
  const TensorId second = b.apply(OpKind::relu, "second", {first})[0];
  const TensorId sum2 = b.apply(OpKind::all_reduce, "sum2", {second}, ranks, Phase::communicate)[0];
  b.apply(OpKind::add, "end", {sum1, sum2}, AddAttributes{});
  return b.finish();
}

TEST(ModelledExposure, CountsWhatComputationCannotHide) {
  const Program program = two_sums();
  const std::vector<double> seconds{1, 99, 1, 99, 0.5};
  // Ready at 1 and 2 s, 400 bytes each. Of 0.5 s each: done at 1.5 and 2.5, so the last reader waits from 2 to 2.5.
  EXPECT_DOUBLE_EQ(modelled_exposed_seconds(program, seconds, [](std::int64_t) { return 0.5; }).value(), 0.5);
  // Of 3 s each, one after the other: done at 4 and 7.
  EXPECT_DOUBLE_EQ(modelled_exposed_seconds(program, seconds, [](std::int64_t) { return 3.0; }).value(), 5.0);
  EXPECT_DOUBLE_EQ(
      modelled_exposed_seconds(program, seconds, [](std::int64_t bytes) { return static_cast<double>(bytes) / 400; })
          .value(),
      1.0);
}

TEST(ModelledExposure, KnowsNothingOfOtherStages) {
  ProgramBuilder b{"a stage", 1};
  b.apply(OpKind::send, "out", {b.input("x", {1})}, MessageAttributes{.peer = 1}, Phase::communicate);
  EXPECT_FALSE(modelled_exposed_seconds(b.finish(), std::vector<double>{0}, [](std::int64_t) { return 0.0; }));
}

}  // namespace
}  // namespace gpusizer
