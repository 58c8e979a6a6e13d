// SPDX-License-Identifier: Apache-2.0
// The table of mixed precision. A new operation needs a row here; a test over the table of operations asks for it.
#include "workloads/transforms/precision_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

constexpr std::string_view product = "matrix products are what 16-bit hardware is fast at; they sum in f32";
constexpr std::string_view pointwise = "rounds each element once, and is as fast as its bytes are few";
constexpr std::string_view statistics =
    "sums over many elements would drown small ones: statistics, scale and shift stay f32";
constexpr std::string_view loss = "exponentials, logarithms and means over the batch lose what the training needs";
constexpr std::string_view update = "small steps would be rounded away: parameters and optimizer state stay f32";
constexpr std::string_view integers = "eight-bit integers have their own widths";
constexpr std::string_view number = "single numbers cost nothing";
constexpr std::string_view message = "what ranks exchange is as wide as it is where it is made";

constexpr auto narrow = OperandWidth::narrow;
constexpr auto any = OperandWidth::as_they_are;

constexpr PrecisionRule rules[] = {
    {OpKind::conv2d, narrow, ResultWidth::narrow, product},
    {OpKind::conv2d_backward_data, narrow, ResultWidth::narrow, product},
    {OpKind::conv2d_backward_weights, narrow, ResultWidth::narrow, product},
    {OpKind::linear, narrow, ResultWidth::narrow, product},
    {OpKind::linear_backward_data, narrow, ResultWidth::narrow, product},
    {OpKind::linear_backward_weights, narrow, ResultWidth::narrow, product},
    {OpKind::attention, narrow, ResultWidth::narrow, product},  // its softmax is f32 inside the kernel
    {OpKind::attention_backward, narrow, ResultWidth::narrow, product},
    {OpKind::lstm, narrow, ResultWidth::narrow, product},  // its cell state is f32 inside the kernel
    {OpKind::lstm_backward, narrow, ResultWidth::narrow, product},
    {OpKind::relu, any, ResultWidth::widest, pointwise},
    {OpKind::relu_backward, any, ResultWidth::widest, pointwise},
    {OpKind::add, any, ResultWidth::widest, pointwise},
    {OpKind::max_pool, any, ResultWidth::widest, pointwise},
    {OpKind::max_pool_backward, any, ResultWidth::widest, pointwise},
    {OpKind::avg_pool, any, ResultWidth::widest, pointwise},
    {OpKind::avg_pool_backward, any, ResultWidth::widest, pointwise},
    {OpKind::flatten, any, ResultWidth::widest, pointwise},
    {OpKind::flatten_backward, any, ResultWidth::widest, pointwise},
    {OpKind::dropout, any, ResultWidth::widest, pointwise},
    {OpKind::dropout_backward, any, ResultWidth::widest, pointwise},
    {OpKind::gelu, any, ResultWidth::widest, pointwise},
    {OpKind::gelu_backward, any, ResultWidth::widest, pointwise},
    {OpKind::tanh, any, ResultWidth::widest, pointwise},
    {OpKind::tanh_backward, any, ResultWidth::widest, pointwise},
    {OpKind::swap_axes, any, ResultWidth::widest, pointwise},
    {OpKind::scale, any, ResultWidth::widest, pointwise},
    {OpKind::gather_rows, any, ResultWidth::narrow, "reads the rows it needs of the f32 table, and writes activations"},
    {OpKind::gather_rows_backward, any, ResultWidth::widest, "the sum of repeated rows: f32 for a table of parameters"},
    {OpKind::batch_norm, any, ResultWidth::first_narrow, statistics},
    {OpKind::batch_norm_backward, any, ResultWidth::first_narrow, statistics},
    {OpKind::batch_norm_statistics, any, ResultWidth::full, statistics},
    {OpKind::batch_norm_apply, any, ResultWidth::first_narrow, statistics},
    {OpKind::batch_norm_sums, any, ResultWidth::full, statistics},
    {OpKind::batch_norm_apply_backward, any, ResultWidth::first_narrow, statistics},
    {OpKind::layer_norm, any, ResultWidth::first_narrow, statistics},
    {OpKind::layer_norm_backward, any, ResultWidth::first_narrow, statistics},
    {OpKind::softmax_cross_entropy, any, ResultWidth::full, loss},
    {OpKind::softmax_cross_entropy_backward, any, ResultWidth::narrow, "one rounding of each element's gradient"},
    {OpKind::vocabulary_loss_part, any, ResultWidth::full, loss},
    {OpKind::vocabulary_loss, any, ResultWidth::full, loss},
    {OpKind::vocabulary_loss_backward, any, ResultWidth::narrow, "one rounding of each element's gradient"},
    {OpKind::mse_loss, any, ResultWidth::full, loss},
    {OpKind::mse_loss_backward, any, ResultWidth::narrow, "one rounding of each element's gradient"},
    {OpKind::pinball_loss, any, ResultWidth::full, loss},
    {OpKind::pinball_loss_backward, any, ResultWidth::narrow, "one rounding of each element's gradient"},
    {OpKind::cast, any, ResultWidth::full, "says itself what it casts to"},
    {OpKind::record_range, any, ResultWidth::full, number},
    {OpKind::quantize, any, ResultWidth::full, integers},
    {OpKind::dequantize, any, ResultWidth::full, integers},
    {OpKind::conv2d_int8, any, ResultWidth::full, integers},
    {OpKind::linear_int8, any, ResultWidth::full, integers},
    {OpKind::all_reduce, any, ResultWidth::widest, message},
    {OpKind::delayed_all_reduce, any, ResultWidth::full, message},
    {OpKind::reduce_scatter, any, ResultWidth::widest, message},
    {OpKind::all_gather, any, ResultWidth::widest, message},
    {OpKind::broadcast, any, ResultWidth::full, message},
    {OpKind::send, any, ResultWidth::full, message},
    {OpKind::receive, any, ResultWidth::full, message},
    {OpKind::fork, any, ResultWidth::widest, message},
    {OpKind::count_labels, any, ResultWidth::full, number},
    {OpKind::divide, any, ResultWidth::full, number},
    {OpKind::scale_by, any, ResultWidth::widest, pointwise},
    {OpKind::sum_squares, any, ResultWidth::full, statistics},
    {OpKind::norm_factor, any, ResultWidth::full, number},
    {OpKind::gradient_norm, any, ResultWidth::full, statistics},
    {OpKind::count_step, any, ResultWidth::full, number},
    {OpKind::loss_scale_update, any, ResultWidth::full, number},
    {OpKind::sgd, any, ResultWidth::full, update},
    {OpKind::adam, any, ResultWidth::full, update},
    {OpKind::adagrad, any, ResultWidth::full, update},
    {OpKind::lamb, any, ResultWidth::full, update},
};

}  // namespace

std::span<const PrecisionRule> precision_rules() { return rules; }

const PrecisionRule& precision_rule(OpKind kind) {
  const auto it = std::ranges::find(rules, kind, &PrecisionRule::kind);
  if (it == std::end(rules))
    throw Error(Fault::failed, fmt::format("mixed precision has no rule for {}", operation_name(kind)));
  return *it;
}

}  // namespace gpusizer
