// SPDX-License-Identifier: Apache-2.0
// The two forecasters and their losses.
#include "workloads/models/forecaster.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/sequence_layers.hpp"

namespace gpusizer::forecaster {

namespace {

constexpr double quantiles[] = {0.1, 0.5, 0.9};

struct Network {
  ProgramBuilder builder;
  const ModelOptions& options;
  int64_t batch;
  TensorId values, targets;  // values as rows: [batch * window, features]
};

void require_positive(int64_t value, const char* what, const char* flag) {
  if (value < 1) throw Error(Fault::usage, fmt::format("{} is no {}", value, what), flag, "use at least 1");
}

Network start(const ModelEntry& entry, const ModelOptions& o, int64_t batch) {
  require_positive(o.layers, "number of layers", "--layers");
  require_positive(o.hidden, "hidden size", "--hidden");
  require_positive(o.window, "window", "--window");
  require_positive(o.horizon, "horizon", "--horizon");
  require_positive(o.features, "number of features", "--columns");
  ProgramBuilder b{std::string(entry.name), batch};
  const TensorId values = b.input("values", {batch, o.window, o.features});
  const TensorId targets = b.input("targets", {batch, o.horizon});
  return {std::move(b), o, batch, values, targets};
}

// [batch, window, features] -> rows
TensorId rows_of(Network& n) {
  return n.builder.apply(OpKind::flatten, "rows", {n.values}, FlattenAttributes{.leading = 2})[0];
}

Program finish(Network n, TensorId summary) {
  auto& b = n.builder;
  const int64_t horizon = n.options.horizon;
  std::vector<TensorId> loss;
  if (n.options.loss == "mse") {
    loss = b.apply(OpKind::mse_loss, "loss", {linear(b, "head", summary, horizon), n.targets});
  } else if (n.options.loss == "pinball") {
    const TensorId prediction = linear(b, "head", summary, horizon * static_cast<int64_t>(std::size(quantiles)));
    loss = b.apply(OpKind::pinball_loss, "loss", {prediction, n.targets},
                   QuantileAttributes{{std::begin(quantiles), std::end(quantiles)}});
  } else {
    throw Error(Fault::usage, fmt::format("there is no loss '{}'", n.options.loss), "--loss", "use mse or pinball");
  }
  b.set_loss(loss[0]);
  b.add_output({"mae", loss[1], {}});
  return b.finish();
}

}  // namespace

Program lstm(const ModelEntry& entry, const ModelOptions& o, int64_t batch, Mode) {
  Network n = start(entry, o, batch);
  auto& b = n.builder;
  TensorId x = b.apply(OpKind::swap_axes, "time_first", {rows_of(n)}, SwapAttributes{batch, o.window})[0];
  for (int64_t i = 0; i < o.layers; ++i) x = gpusizer::lstm(b, fmt::format("lstm.{}", i), x, o.hidden, o.window);
  const TensorId last = every_row(b, "last_step", x, batch, 1, (o.window - 1) * batch);
  return finish(std::move(n), last);
}

Program temporal(const ModelEntry& entry, const ModelOptions& o, int64_t batch, Mode mode) {
  Network n = start(entry, o, batch);
  auto& b = n.builder;
  if (o.heads < 1 || o.hidden % o.heads != 0)
    throw Error(Fault::usage, fmt::format("{} heads do not divide a hidden size of {}", o.heads, o.hidden), "--heads",
                "use a divisor of --hidden");
  require_positive(o.feed_forward, "feed-forward width", "--feed-forward");
  const EncoderOptions options{.hidden = o.hidden, .heads = o.heads, .feed_forward = o.feed_forward,
                               .sequence = o.window, .dropout = mode == Mode::train ? o.dropout.value_or(0) : 0,
                               .lengths = {}};
  TensorId x = linear(b, "input", rows_of(n), o.hidden);
  x = add_positions(b, "positions", x, o.window, o.window);
  for (int64_t i = 0; i < o.layers; ++i) x = encoder_block(b, fmt::format("encoder.layer.{}", i), x, options);
  const TensorId last = every_row(b, "last_step", x, batch, o.window, o.window - 1);
  return finish(std::move(n), last);
}

}  // namespace gpusizer::forecaster
