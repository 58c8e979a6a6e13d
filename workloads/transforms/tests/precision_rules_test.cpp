// SPDX-License-Identifier: Apache-2.0
// The table of mixed precision covers the table of operations.
#include "workloads/transforms/precision_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/program/operations.hpp"

namespace gpusizer {
namespace {

TEST(PrecisionRules, EveryOperationHasOneRowWithAReason) {
  for (const OperationRule& operation : operations()) {
    EXPECT_EQ(std::ranges::count(precision_rules(), operation.kind, &PrecisionRule::kind), 1) << operation.name;
    EXPECT_FALSE(precision_rule(operation.kind).reason.empty()) << operation.name;
  }
}

TEST(PrecisionRules, MatrixProductsReadNarrowOperandsAndUpdatesDoNot) {
  EXPECT_EQ(precision_rule(OpKind::linear).operands, OperandWidth::narrow);
  EXPECT_EQ(precision_rule(OpKind::adam).operands, OperandWidth::as_they_are);
  EXPECT_EQ(precision_rule(OpKind::adam).results, ResultWidth::full);
}

}  // namespace
}  // namespace gpusizer
