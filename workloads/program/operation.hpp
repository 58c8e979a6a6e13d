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
  gather_rows,
  gather_rows_backward,
  swap_axes,
  layer_norm,
  layer_norm_backward,
  gelu,
  gelu_backward,
  tanh,
  tanh_backward,
  attention,
  attention_backward,
  lstm,
  lstm_backward,
  mse_loss,
  mse_loss_backward,
  pinball_loss,
  pinball_loss_backward,
  cast,
  scale,
  record_range,
  quantize,
  dequantize,
  conv2d_int8,
  linear_int8,
  gradient_norm,
  count_step,
  loss_scale_update,
  sgd,
  adam,
  adagrad,
  lamb,
  // What several ranks do together: rules/collective.cpp.
  all_reduce,
  delayed_all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  send,
  receive,
  fork,
  // A part's share in the whole: rules/shares.cpp.
  count_labels,
  divide,
  scale_by,
  sum_squares,
  norm_factor,
  // Losses and norms whose sums go over several ranks.
  vocabulary_loss_part,
  vocabulary_loss,
  vocabulary_loss_backward,
  batch_norm_statistics,
  batch_norm_apply,
  batch_norm_sums,
  batch_norm_apply_backward,
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
  // Samples that are normalised together: a batch of several groups has the statistics of each, and its running
  // statistics take the mean over the groups. 0: the whole batch. (What each of several ranks does with its own samples.)
  int64_t group = 0;
};

struct AddAttributes {
  bool relu = false;  // set by lowering: relu(a + b)
};

struct ReluAttributes {
  int gradients = 1;  // backward, set by lowering: how many incoming gradients are summed first
};

struct FlattenAttributes {
  Shape input_shape{};  // backward only
  int64_t leading = 1;  // dimensions that become the rows; the others become the columns
};

struct DropoutAttributes {
  double rate = 0.5;    // probability that an element becomes zero; the others are scaled by 1 / (1 - rate)
  uint32_t stream = 0;  // which of the program's dropouts this is: its own sequence of random numbers
  bool residual = false;  // set by lowering: a third input is added to the result
};

struct LossAttributes {
  double label_smoothing = 0;
  bool ignore_negative = false;  // a negative label is no sample: the mean is over the others, whose number is a result
};

// Row i of the result is row index(i) of the source. Without an input of indices:
//   index(i) = (offset + i * stride) % period, where period 0 means no remainder is taken;
// with one:
//   index(i) = indices[i] + (i / group_indices) * group_rows, where group_rows 0 adds nothing: indices count inside a group.
struct GatherAttributes {
  int64_t rows = 0;  // of the result
  int64_t offset = 0, stride = 1, period = 0;
  int64_t group_indices = 1, group_rows = 0;
  // The source is the part of a larger table of `all_rows` that begins at row `first`: rows that are not here come out as
  // zeros (their gradients go nowhere).
  bool part = false;
  int64_t first = 0, all_rows = 0;
};

// Rows are numbered outer * inner: [outer x inner, ...] becomes [inner x outer, ...].
struct SwapAttributes {
  int64_t outer = 1, inner = 1;
};

struct LayerNormAttributes {
  double epsilon = 1e-12;
};

// Self-attention over sequences of equal length: softmax(q k^T / sqrt(head size)) v, with dropout on the probabilities.
struct AttentionAttributes {
  int64_t heads = 1, sequence = 1;
  bool masked = false;  // an input gives the real tokens of each sequence; keys beyond them are not looked at
  double rate = 0;      // of dropout; above 0 an input gives the random state
  uint32_t stream = 0;  // as a dropout's
  // Where heads are shared out among ranks: these begin at `first_head` of `all_heads`, and dropout draws for them what it
  // draws in the whole. 0: these are all.
  int64_t first_head = 0, all_heads = 0;
};

struct LstmAttributes {
  int64_t steps = 1;           // rows are steps * batch, time outermost
  bool input_gradient = true;  // backward: whether the gradient of x is wanted
};

struct QuantileAttributes {
  std::vector<double> quantiles;  // ascending, each in (0, 1)
};

struct CastAttributes {
  DType to = DType::f32;
};

struct ScaleAttributes {
  double factor = 1;
};

// Eight-bit integers q stand for scale * q: i8 for -128 to 127, u8 for 0 to 255. Rounded to nearest, ties to even; what is
// beyond becomes the last one.
struct QuantizeAttributes {
  DType to = DType::i8;  // f32 when integers are read and real numbers written
  double scale = 1;
};

// A convolution or fully connected layer of integers that are summed exactly. With x, the weights and the results of
// channel k standing for x_scale * x, weight_scales[k] * w and scale * q:
//   y = x_scale * weight_scales[k] * (sum of products + bias[k]) [+ residual], then the activation, then q of y.
struct Int8Attributes {
  enum class Activation : uint8_t { none, relu, gelu } activation = Activation::none;
  double x_scale = 1;
  std::vector<double> weight_scales{};  // by output channel
  QuantizeAttributes to{DType::f32, 1};
  bool residual = false;      // the last input is added; of a convolution integers, of a fully connected layer f32
  double residual_scale = 1;  // of its integers
  ConvAttributes conv{};      // of a convolution
  int64_t layout_batch = 0;   // the batch for which a backend may arrange the weights; 0: that of the program
};

struct GradientNormAttributes {
  double clip = 0;      // the largest norm that is let through; 0: any
  bool scaled = false;  // the last input is the loss scale that the gradients carry
};

// After `interval` good steps in a row the scale grows, after a step with a gradient that is not finite it shrinks
// (Micikevicius et al., "Mixed precision training", 2018).
struct LossScaleAttributes {
  double growth = 2, backoff = 0.5, largest = 16777216;
  int64_t interval = 2000;
};

// What all optimizers share: g = factor * g + weight_decay * w + l1 * sign(w). With `scaled` the last input is the
// factor, and a factor of 0 leaves everything as it is: the step is skipped.
struct UpdateAttributes {
  double weight_decay = 0, l1 = 0;
  bool scaled = false;
};

struct SgdAttributes {
  double momentum = 0, weight_decay = 0;  // g += wd * w;  m = momentum * m + g;  w -= lr * m   (as PyTorch)
  double l1 = 0;
  bool scaled = false;
};

// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  with t steps taken, this one included:
// w -= lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)    (Kingma & Ba, 2015)
// decoupled: weight decay is not in g; w -= lr * weight_decay * w comes first (Loshchilov & Hutter, 2019).
// LAMB (You et al., 2020): u = the update without lr, plus weight_decay * w;  w -= lr * |w| / |u| * u, with the ratio 1
// where a norm is 0.
struct AdamAttributes {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool decoupled = false;
  UpdateAttributes update;
};

// s += g^2;  w -= lr * g / (sqrt(s) + epsilon)    (Duchi et al., 2011; as PyTorch)
struct AdagradAttributes {
  double epsilon = 1e-10;
  UpdateAttributes update;
};

// Ranks are numbered through the whole world. All of `ranks` run the same collectives in the same order.
struct CollectiveAttributes {
  int32_t rank = 0;             // whose program this is
  std::vector<int32_t> ranks{};   // that take part, ascending
  std::vector<int32_t> owners{};  // reduce_scatter: the rank that gets each input's sum; broadcast: that gives each tensor
  int32_t delay = 0;  // delayed_all_reduce: how many steps later a sum is told
};

// A message to or from another rank. Those between two ranks arrive in the order in which they were sent.
struct MessageAttributes {
  int32_t peer = 0;
  struct Content {
    std::string name;  // of the tensor on the receiving side
    Shape shape;
    DType dtype = DType::f32;
    Role role = Role::activation;
  };
  std::vector<Content> contents{};  // receive: what arrives, unless the inputs are overwritten in place
  // Receive: how many of this rank's sends to the peer, in their order, the peer must have got before it can send this.
  int32_t sends_before = 0;
};

// The labels are those of a whole vocabulary of which this rank's logits begin at `first`.
struct VocabularyAttributes {
  int64_t first = 0;
  LossAttributes loss{};
};

using Attributes =
    std::variant<std::monostate, ConvAttributes, PoolAttributes, NormAttributes, AddAttributes, ReluAttributes,
                 FlattenAttributes, DropoutAttributes, LossAttributes, GatherAttributes, SwapAttributes,
                 LayerNormAttributes, AttentionAttributes, LstmAttributes, QuantileAttributes, CastAttributes,
                 ScaleAttributes, QuantizeAttributes, Int8Attributes, GradientNormAttributes, LossScaleAttributes,
                 SgdAttributes, AdamAttributes, AdagradAttributes, CollectiveAttributes, MessageAttributes,
                 VocabularyAttributes>;

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
