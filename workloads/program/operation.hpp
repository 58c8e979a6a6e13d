// SPDX-License-Identifier: Apache-2.0
// Operations of a step program: what is computed, from which tensors, into which, in which phase.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "workloads/program/tensor.hpp"

namespace gpusizer {

// Each kind has one row in the table of operations.cpp, which says its inputs, outputs, shape rule and backward.
enum class OpKind : uint8_t {
  conv2d,
  conv2d_backward_data,
  conv2d_backward_weights,
  batch_norm,
  batch_norm_backward,
  relu,
  relu_backward,
  add,
  max_pool,
  max_pool_backward,
  avg_pool,
  avg_pool_backward,
  flatten,
  flatten_backward,
  linear,
  linear_backward_data,
  linear_backward_weights,
  dropout,
  dropout_backward,
  softmax_cross_entropy,
  softmax_cross_entropy_backward,
  sgd,
};

enum class Phase : uint8_t { forward, backward, communicate, update };
std::string_view to_string(Phase phase);

struct ConvAttributes {
  int64_t stride = 1, padding = 0, groups = 1;
  bool relu = false;                       // set by lowering: the result is clipped at zero
  int64_t input_height = 0, input_width = 0;  // backward only: with a stride the result does not tell them
};

struct PoolAttributes {
  int64_t kernel = 1, stride = 1, padding = 0;  // padding is never counted in an average
  int64_t input_height = 0, input_width = 0;    // backward only
};

struct NormAttributes {
  double epsilon = 1e-5;
  double momentum = 0.1;  // share of the new batch in the running statistics, as PyTorch counts it
  bool training = true;   // false: normalise by the running statistics, keep nothing
  // Set by lowering, for batch norm (+ residual add) + ReLU in one kernel each way:
  bool relu = false, residual = false;
  int gradients = 1;  // backward: how many incoming gradients are summed first
};

struct AddAttributes {
  bool relu = false;  // set by lowering: relu(a + b)
};

struct ReluAttributes {
  int gradients = 1;  // backward, set by lowering: how many incoming gradients are summed first
};

struct FlattenAttributes {
  Shape input_shape;  // backward only
};

struct DropoutAttributes {
  double rate = 0.5;    // probability that an element becomes zero; the others are scaled by 1 / (1 - rate)
  uint32_t stream = 0;  // which of the program's dropouts this is: its own sequence of random numbers
};

struct LossAttributes {
  double label_smoothing = 0;
};

struct SgdAttributes {
  double momentum = 0, weight_decay = 0;  // g += wd * w;  m = momentum * m + g;  w -= lr * m   (as PyTorch)
};

using Attributes = std::variant<std::monostate, ConvAttributes, PoolAttributes, NormAttributes, AddAttributes,
                                ReluAttributes, FlattenAttributes, DropoutAttributes, LossAttributes, SgdAttributes>;

struct Operation {
  OpKind kind;
  std::string layer;  // the model's name of the place: "layer1.0.conv1"
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;  // an output that is also an input is updated in place
  Attributes attributes;
  Phase phase = Phase::forward;
  int32_t forward_op = -1;  // backward operations: the index of the forward operation that they belong to
};

}  // namespace gpusizer
