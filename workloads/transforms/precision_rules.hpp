// SPDX-License-Identifier: Apache-2.0
// Which operations work on 16-bit tensors in mixed precision, and which stay in f32: one explicit table, with reasons.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "workloads/program/operation.hpp"

namespace gpusizer {

enum class OperandWidth : uint8_t {
  narrow,       // f32 operands are cast first, parameters included: a matrix product (sums are f32 all the same)
  as_they_are,  // read in whatever width they have
};

enum class ResultWidth : uint8_t {
  narrow,
  first_narrow,  // the first result; the others (statistics, gradients of a norm's parameters) stay f32
  widest,        // as wide as the widest operand
  full,          // f32
};

// Results that are single numbers or live from step to step stay f32 whatever the row says.
struct PrecisionRule {
  OpKind kind;
  OperandWidth operands;
  ResultWidth results;
  std::string_view reason;
};

std::span<const PrecisionRule> precision_rules();
// Throws Error(failed) for a kind without a row.
const PrecisionRule& precision_rule(OpKind kind);

}  // namespace gpusizer
