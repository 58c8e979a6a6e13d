// SPDX-License-Identifier: Apache-2.0
// Parameters and operations of the layers.
#include "workloads/program/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "gpusizer/error.hpp"

namespace gpusizer {

namespace {

Initializer uniform(double fan_in) { return {Initializer::Kind::uniform, 1.0 / std::sqrt(fan_in)}; }

// Layers look at their input's channels before the shape rule can: refuse a wrong rank here.
int64_t extent(const ProgramBuilder& b, const std::string& layer, TensorId x, size_t rank, size_t axis) {
  const Shape& shape = b.shape(x);
  if (shape.size() != rank)
    throw Error(Fault::usage, fmt::format("layer '{}' needs an input of {} dimensions, not {}", layer, rank,
                                          to_string(shape)));
  return shape[axis];
}

}  // namespace

TensorId conv2d(ProgramBuilder& b, const std::string& layer, TensorId x, const ConvOptions& o) {
  const int64_t input_channels = extent(b, layer, x, 4, 1);
  if (o.channels < 1 || o.groups < 1 || input_channels % o.groups != 0 || o.channels % o.groups != 0)
    throw Error(Fault::usage, fmt::format("layer '{}': {} groups do not divide {} input and {} output channels", layer,
                                          o.groups, input_channels, o.channels));
  const int64_t group_channels = input_channels / o.groups;
  const double deviation = std::sqrt(2.0 / static_cast<double>(o.channels * o.kernel * o.kernel));
  std::vector<TensorId> inputs{x, b.persistent(layer + ".weight", {o.channels, group_channels, o.kernel, o.kernel},
                                               Role::parameter, {Initializer::Kind::normal, deviation})};
  if (o.bias)
    inputs.push_back(b.persistent(layer + ".bias", {o.channels}, Role::parameter,
                                  uniform(static_cast<double>(group_channels * o.kernel * o.kernel))));
  return b.apply(OpKind::conv2d, layer, inputs, ConvAttributes{o.stride, o.padding, o.groups})[0];
}

TensorId batch_norm(ProgramBuilder& b, const std::string& layer, TensorId x, bool training) {
  const Shape channels{extent(b, layer, x, 4, 1)};
  const Initializer one{Initializer::Kind::constant, 1}, zero{Initializer::Kind::constant, 0};
  const TensorId scale = b.persistent(layer + ".weight", channels, Role::parameter, one);
  const TensorId shift = b.persistent(layer + ".bias", channels, Role::parameter, zero);
  const TensorId mean = b.persistent(layer + ".running_mean", channels, Role::state, zero);
  const TensorId variance = b.persistent(layer + ".running_var", channels, Role::state, one);
  return b.apply(OpKind::batch_norm, layer, {x, scale, shift, mean, variance}, NormAttributes{.training = training})[0];
}

TensorId relu(ProgramBuilder& b, const std::string& layer, TensorId x) {
  return b.apply(OpKind::relu, layer, {x}, ReluAttributes{})[0];
}

TensorId add(ProgramBuilder& b, const std::string& layer, TensorId x, TensorId y) {
  return b.apply(OpKind::add, layer, {x, y}, AddAttributes{})[0];
}

TensorId max_pool(ProgramBuilder& b, const std::string& layer, TensorId x, PoolAttributes window) {
  return b.apply(OpKind::max_pool, layer, {x}, window)[0];
}

TensorId avg_pool(ProgramBuilder& b, const std::string& layer, TensorId x, PoolAttributes window) {
  return b.apply(OpKind::avg_pool, layer, {x}, window)[0];
}

TensorId global_avg_pool(ProgramBuilder& b, const std::string& layer, TensorId x) {
  const int64_t side = extent(b, layer, x, 4, 2);
  if (b.shape(x)[3] != side)
    throw Error(Fault::usage, fmt::format("layer '{}' averages square images only, not {}", layer, to_string(b.shape(x))));
  return avg_pool(b, layer, x, {.kernel = side, .stride = side});
}

TensorId flatten(ProgramBuilder& b, const std::string& layer, TensorId x) {
  return b.apply(OpKind::flatten, layer, {x})[0];
}

TensorId linear(ProgramBuilder& b, const std::string& layer, TensorId x, int64_t features, bool bias) {
  const int64_t in = extent(b, layer, x, 2, 1);
  const Initializer initial = uniform(static_cast<double>(in));
  std::vector<TensorId> inputs{x, b.persistent(layer + ".weight", {features, in}, Role::parameter, initial)};
  if (bias) inputs.push_back(b.persistent(layer + ".bias", {features}, Role::parameter, initial));
  return b.apply(OpKind::linear, layer, inputs)[0];
}

TensorId random_state(ProgramBuilder& b) {
  const Tensor* known = b.program().find("random_state");
  return known ? known->id : b.scalar("random_state", 0, DType::i32, {2});
}

uint32_t next_random_stream(const ProgramBuilder& b) {
  const auto draws = [](const Operation& op) {
    const auto* attention = std::get_if<AttentionAttributes>(&op.attributes);
    return op.kind == OpKind::dropout || (op.kind == OpKind::attention && attention->rate > 0);
  };
  return static_cast<uint32_t>(std::ranges::count_if(b.program().operations, draws));
}

TensorId dropout(ProgramBuilder& b, const std::string& layer, TensorId x, double rate) {
  const uint32_t stream = next_random_stream(b);
  return b.apply(OpKind::dropout, layer, {x, random_state(b)}, DropoutAttributes{rate, stream})[0];
}

void classification_loss(ProgramBuilder& b, TensorId logits, TensorId labels, double label_smoothing) {
  const auto out =
      b.apply(OpKind::softmax_cross_entropy, "loss", {logits, labels}, LossAttributes{.label_smoothing = label_smoothing});
  b.set_loss(out[0], out[1]);
}

}  // namespace gpusizer
