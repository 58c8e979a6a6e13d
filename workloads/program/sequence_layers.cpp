// SPDX-License-Identifier: Apache-2.0
// Parameters and operations of the layers over sequences.
#include "workloads/program/sequence_layers.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"

namespace gpusizer {

namespace {

constexpr Initializer zero{Initializer::Kind::constant, 0}, one{Initializer::Kind::constant, 1};

TensorId table(ProgramBuilder& b, const std::string& layer, int64_t rows, int64_t hidden, double deviation) {
  return b.persistent(layer + ".weight", {rows, hidden}, Role::parameter, {Initializer::Kind::normal, deviation});
}

int64_t width(const ProgramBuilder& b, const std::string& layer, TensorId x) {
  const Shape& shape = b.shape(x);
  if (shape.size() != 2)
    throw Error(Fault::usage, fmt::format("layer '{}' needs rows, not {}", layer, to_string(shape)));
  return shape[1];
}

TensorId maybe_dropout(ProgramBuilder& b, const std::string& layer, TensorId x, double rate) {
  return rate > 0 ? dropout(b, layer, x, rate) : x;
}

}  // namespace

TensorId dense(ProgramBuilder& b, const std::string& layer, TensorId x, int64_t features, double deviation) {
  const TensorId weight = table(b, layer, features, width(b, layer, x), deviation);
  const TensorId bias = b.persistent(layer + ".bias", {features}, Role::parameter, zero);
  return b.apply(OpKind::linear, layer, {x, weight, bias})[0];
}

TensorId embedding(ProgramBuilder& b, const std::string& layer, TensorId ids, int64_t rows, int64_t hidden,
                   double deviation) {
  const GatherAttributes gather{.rows = element_count(b.shape(ids))};
  return b.apply(OpKind::gather_rows, layer, {table(b, layer, rows, hidden, deviation), ids}, gather)[0];
}

TensorId add_positions(ProgramBuilder& b, const std::string& layer, TensorId x, int64_t rows, int64_t sequence,
                       double deviation) {
  const TensorId positions = table(b, layer, rows, width(b, layer, x), deviation);
  const GatherAttributes gather{.rows = b.shape(x)[0], .period = sequence};
  return add(b, layer + ".add", x, b.apply(OpKind::gather_rows, layer, {positions}, gather)[0]);
}

TensorId layer_norm(ProgramBuilder& b, const std::string& layer, TensorId x, double epsilon) {
  const Shape hidden{width(b, layer, x)};
  const TensorId scale = b.persistent(layer + ".weight", hidden, Role::parameter, one);
  const TensorId shift = b.persistent(layer + ".bias", hidden, Role::parameter, zero);
  return b.apply(OpKind::layer_norm, layer, {x, scale, shift}, LayerNormAttributes{epsilon})[0];
}

TensorId gelu(ProgramBuilder& b, const std::string& layer, TensorId x) { return b.apply(OpKind::gelu, layer, {x})[0]; }

TensorId tanh(ProgramBuilder& b, const std::string& layer, TensorId x) { return b.apply(OpKind::tanh, layer, {x})[0]; }

TensorId every_row(ProgramBuilder& b, const std::string& layer, TensorId x, int64_t rows, int64_t stride,
                   int64_t offset) {
  return b.apply(OpKind::gather_rows, layer, {x},
                 GatherAttributes{.rows = rows, .offset = offset, .stride = stride})[0];
}

namespace {

TensorId self_attention(ProgramBuilder& b, const std::string& layer, TensorId x, const EncoderOptions& o) {
  std::vector<TensorId> inputs{dense(b, layer + ".self.qkv", x, 3 * o.hidden)};
  if (o.lengths) inputs.push_back(*o.lengths);
  AttentionAttributes attributes{.heads = o.heads, .sequence = o.sequence, .masked = o.lengths.has_value(),
                                 .rate = o.dropout};
  if (o.dropout > 0) {
    inputs.push_back(random_state(b));
    attributes.stream = next_random_stream(b);
  }
  return b.apply(OpKind::attention, layer + ".self", inputs, attributes)[0];
}

}  // namespace

TensorId encoder_block(ProgramBuilder& b, const std::string& layer, TensorId x, const EncoderOptions& o) {
  const std::string attention = layer + ".attention", output = layer + ".output";
  TensorId y = dense(b, attention + ".output.dense", self_attention(b, attention, x, o), o.hidden);
  y = maybe_dropout(b, attention + ".output.dropout", y, o.dropout);
  x = layer_norm(b, attention + ".output.LayerNorm", add(b, attention + ".output.add", y, x));
  y = gelu(b, layer + ".intermediate.gelu", dense(b, layer + ".intermediate.dense", x, o.feed_forward));
  y = maybe_dropout(b, output + ".dropout", dense(b, output + ".dense", y, o.hidden), o.dropout);
  return layer_norm(b, output + ".LayerNorm", add(b, output + ".add", y, x));
}

TensorId lstm(ProgramBuilder& b, const std::string& layer, TensorId x, int64_t hidden, int64_t steps) {
  const Initializer initial{Initializer::Kind::uniform, 1.0 / std::sqrt(static_cast<double>(hidden))};
  const auto parameter = [&](const char* name, Shape shape) {
    return b.persistent(layer + "." + name, std::move(shape), Role::parameter, initial);
  };
  const TensorId w_ih = parameter("weight_ih", {4 * hidden, width(b, layer, x)});
  const TensorId w_hh = parameter("weight_hh", {4 * hidden, hidden});
  const TensorId b_ih = parameter("bias_ih", {4 * hidden}), b_hh = parameter("bias_hh", {4 * hidden});
  return b.apply(OpKind::lstm, layer, {x, w_ih, w_hh, b_ih, b_hh}, LstmAttributes{steps})[0];
}

}  // namespace gpusizer
