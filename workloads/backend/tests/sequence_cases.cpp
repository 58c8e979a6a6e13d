// SPDX-License-Identifier: Apache-2.0
// Operation cases over rows: embeddings, Transformers, LSTM, losses of numbers and losses that leave samples out.
#include "workloads/program/sequence_layers.hpp"

#include "workloads/backend/tests/operation_cases.hpp"
#include "workloads/program/layers.hpp"

namespace gpusizer {

namespace {

constexpr int64_t classes = 5;

// A program under construction whose rows are the inputs: [rows, width].
struct Net {
  ProgramBuilder b;
  TensorId x;

  explicit Net(int64_t batch) : b("case", batch) {}
  Net(int64_t rows, int64_t width) : b("case", rows), x(b.input("values", {rows, width})) {}

  // Every element of the result under test enters the loss with a weight of its own.
  TensorId logits(TensorId y, const std::string& name = "tail") { return linear(b, name, y, classes); }
  std::vector<TensorId> loss(TensorId y, const std::string& labels, const LossAttributes& attributes) {
    const TensorId given = b.input(labels, {b.shape(y)[0]}, DType::i32);
    return b.apply(OpKind::softmax_cross_entropy, labels + "_loss", {logits(y, labels + "_tail"), given}, attributes);
  }
  Program finish(TensorId y) {
    const auto out = loss(y, "labels", {});
    b.set_loss(out[0], out[1]);
    return b.finish();
  }
};

// Rows that are themselves computed, so that the operation under test must give a gradient for its input.
struct Inner : Net {
  Inner(int64_t rows, int64_t width) : Net(rows, 4) { x = linear(b, "pre", x, width); }
};

Program numbered_rows_case(int64_t rows, int64_t width, const GatherAttributes& gather) {
  Inner n{rows, width};
  return n.finish(n.b.apply(OpKind::gather_rows, "gather", {n.x}, gather)[0]);
}

Program picked_rows_case(int64_t rows, int64_t width, const GatherAttributes& gather) {
  Inner n{rows, width};
  const TensorId indices = n.b.input("indices", {gather.rows}, DType::i32);
  return n.finish(n.b.apply(OpKind::gather_rows, "gather", {n.x, indices}, gather)[0]);
}

// Words, positions and types as in BERT: most rows of the tables are used several times or never.
Program embedding_case(int64_t batch, int64_t sequence, int64_t width) {
  Net n{batch};
  const TensorId ids = n.b.input("ids", {batch, sequence}, DType::i32), types = n.b.input("types", {batch, sequence}, DType::i32);
  TensorId y = embedding(n.b, "words", ids, 11, width, 0.5);
  y = add_positions(n.b, "positions", y, sequence + 3, sequence, 0.5);
  return n.finish(add(n.b, "add", y, embedding(n.b, "types.table", types, 2, width, 0.5)));
}

// The table of words is the output layer too: its gradient is the sum of a gather's and a product's.
Program tied_case(int64_t tokens, int64_t words, int64_t width) {
  ProgramBuilder b{"case", tokens};
  const TensorId ids = b.input("ids", {tokens}, DType::i32), labels = b.input("labels", {tokens}, DType::i32);
  const TensorId x = embedding(b, "words", ids, words, width, 0.5);
  const TensorId y = gelu(b, "gelu", linear(b, "hidden", x, width));
  const TensorId bias = b.persistent("bias", {words}, Role::parameter, {});
  const TensorId logits = b.apply(OpKind::linear, "decoder", {y, b.program().find("words.weight")->id, bias})[0];
  const auto out = b.apply(OpKind::softmax_cross_entropy, "loss", {logits, labels}, LossAttributes{.ignore_negative = true});
  b.set_loss(out[0], out[1]);
  return b.finish();
}

// Rows of which some are in another part of the table.
Program part_case(int64_t rows, int64_t width, int64_t first, int64_t all_rows) {
  Inner n{rows, width};
  const TensorId indices = n.b.input("indices", {all_rows + 3}, DType::i32);
  return n.finish(n.b.apply(OpKind::gather_rows, "gather", {n.x, indices},
                            GatherAttributes{.rows = all_rows + 3, .part = true, .first = first, .all_rows = all_rows})[0]);
}

// A vocabulary whose only part is the whole.
Program vocabulary_case(int64_t rows, int64_t words, const LossAttributes& loss) {
  Inner n{rows, words};
  const TensorId labels = n.b.input("labels", {rows}, DType::i32);
  const VocabularyAttributes attributes{0, loss};
  const TensorId part = n.b.apply(OpKind::vocabulary_loss_part, "loss", {n.x, labels}, attributes)[0];
  const auto out = n.b.apply(OpKind::vocabulary_loss, "loss", {n.x, part, labels}, attributes);
  n.b.set_loss(out[0], out[1]);
  return n.b.finish();
}

Program swap_case(int64_t outer, int64_t inner, int64_t width) {
  Inner n{outer * inner, width};
  return n.finish(n.b.apply(OpKind::swap_axes, "swap", {n.x}, SwapAttributes{outer, inner})[0]);
}

Program layer_norm_case(int64_t rows, int64_t width, double epsilon) {
  Inner n{rows, width};
  return n.finish(layer_norm(n.b, "norm", n.x, epsilon));
}

Program activation_case(OpKind kind, int64_t rows, int64_t width) {
  Inner n{rows, width};
  return n.finish(n.b.apply(kind, "activation", {n.x})[0]);
}

Program bias_gelu_case(int64_t rows, int64_t width) {
  Inner n{rows, width};
  return n.finish(linear(n.b, "out", gelu(n.b, "gelu", linear(n.b, "middle", n.x, 4 * width)), width));
}

Program scale_case() {
  Inner n{5, 7};
  return n.finish(n.b.apply(OpKind::scale, "scale", {n.x}, ScaleAttributes{-0.75})[0]);
}

struct Attention {
  int64_t batch, sequence, heads, size;
  bool masked = false;
  double rate = 0;
};

Program attention_case(const Attention& a) {
  Inner n{a.batch * a.sequence, 3 * a.heads * a.size};
  std::vector<TensorId> inputs{n.x};
  if (a.masked) inputs.push_back(n.b.input("lengths", {a.batch}, DType::i32));
  if (a.rate > 0) inputs.push_back(random_state(n.b));
  return n.finish(n.b.apply(OpKind::attention, "attention", inputs,
                            AttentionAttributes{a.heads, a.sequence, a.masked, a.rate, 3})[0]);
}

Program encoder_case(int64_t batch, int64_t sequence, int64_t hidden, double rate) {
  Inner n{batch * sequence, hidden};
  const TensorId lengths = n.b.input("lengths", {batch}, DType::i32);
  return n.finish(encoder_block(n.b, "layer", n.x,
                                {.hidden = hidden, .heads = 2, .feed_forward = 2 * hidden, .sequence = sequence,
                                 .dropout = rate, .lengths = lengths}));
}

Program dropout_add_case(int64_t rows, int64_t width) {
  Inner n{rows, width};
  const TensorId y = dropout(n.b, "drop", linear(n.b, "dense", n.x, width), 0.3);
  return n.finish(layer_norm(n.b, "norm", add(n.b, "add", y, n.x)));
}

// The first layer has no gradient for its input, the second one has.
Program lstm_case(int64_t steps, int64_t batch, int64_t in, int64_t hidden, int layers) {
  Net n{steps * batch, in};
  for (int i = 0; i < layers; ++i) n.x = lstm(n.b, "lstm" + std::to_string(i), n.x, hidden + i, steps);
  return n.finish(n.x);
}

// Only the last step's result is used: no gradient arrives at the others but through time.
Program lstm_last_case(int64_t steps, int64_t batch, int64_t in, int64_t hidden) {
  Inner n{steps * batch, in};
  const TensorId y = lstm(n.b, "lstm", n.x, hidden, steps);
  return n.finish(every_row(n.b, "last", y, batch, 1, (steps - 1) * batch));
}

Program ignoring_case(double label_smoothing) {
  Inner n{8, 6};
  const auto out = n.loss(n.x, "labels", {label_smoothing, true});
  n.b.set_loss(out[0], out[1]);
  return n.b.finish();
}

// One of two losses has no sample at all: it is 0 and so are its gradients.
Program all_ignored_case() {
  Inner n{4, 6};
  const auto none = n.loss(n.x, "ignored_labels", {.ignore_negative = true});
  const auto some = n.loss(n.x, "labels", {});
  n.b.set_loss(add(n.b, "loss", none[0], some[0]), some[1]);
  return n.b.finish();
}

Program mse_case(int64_t rows, int64_t horizon) {
  Inner n{rows, horizon};
  n.b.set_loss(n.b.apply(OpKind::mse_loss, "loss", {n.x, n.b.input("targets", {rows, horizon})})[0], {});
  return n.b.finish();
}

Program pinball_case(int64_t rows, int64_t horizon, const std::vector<double>& quantiles) {
  Inner n{rows, horizon * static_cast<int64_t>(quantiles.size())};
  n.b.set_loss(n.b.apply(OpKind::pinball_loss, "loss", {n.x, n.b.input("targets", {rows, horizon})},
                         QuantileAttributes{quantiles})[0], {});
  return n.b.finish();
}

const std::vector<OperationCase> table{
    {"gather_every_third", [] { return numbered_rows_case(13, 7, {.rows = 4, .offset = 1, .stride = 3}); }},
    {"gather_one_row", [] { return numbered_rows_case(3, 5, {.rows = 1, .offset = 2}); }},
    {"gather_period", [] { return numbered_rows_case(7, 6, {.rows = 15, .offset = 2, .stride = 3, .period = 5}); }},
    {"gather_same_row", [] { return numbered_rows_case(4, 6, {.rows = 5, .offset = 1, .stride = 0}); }},
    {"gather_indices", [] { return picked_rows_case(9, 7, {.rows = 6}); }},
    {"gather_repeated", [] { return picked_rows_case(3, 17, {.rows = 11}); }},
    {"gather_groups", [] { return picked_rows_case(15, 7, {.rows = 6, .group_indices = 2, .group_rows = 5}); }},
    {"gather_wide", [] { return picked_rows_case(12, 48, {.rows = 9, .group_indices = 3, .group_rows = 4}); }},
    {"gather_part_first", [] { return part_case(4, 6, 0, 12); }},
    {"gather_part_middle", [] { return part_case(5, 7, 5, 15); }},
    {"gather_part_wide", [] { return part_case(8, 128, 8, 16); }},
    {"embedding", [] { return embedding_case(3, 5, 7); }},
    {"embedding_wide", [] { return embedding_case(2, 16, 64); }},
    {"tied_embedding", [] { return tied_case(9, 7, 6); }},
    {"swap_axes", [] { return swap_case(3, 4, 5); }},
    {"swap_axes_one", [] { return swap_case(1, 6, 3); }},
    {"swap_axes_wide", [] { return swap_case(8, 5, 32); }},
    {"layer_norm", [] { return layer_norm_case(4, 7, 1e-12); }},
    {"layer_norm_wide", [] { return layer_norm_case(6, 72, 1e-5); }},
    {"layer_norm_epsilon", [] { return layer_norm_case(3, 16, 0.5); }},
    {"gelu", [] { return activation_case(OpKind::gelu, 5, 13); }},
    {"gelu_wide", [] { return activation_case(OpKind::gelu, 8, 64); }},
    {"tanh", [] { return activation_case(OpKind::tanh, 5, 13); }},
    {"tanh_wide", [] { return activation_case(OpKind::tanh, 8, 64); }},
    {"bias_gelu", [] { return bias_gelu_case(6, 5); }},
    {"bias_gelu_wide", [] { return bias_gelu_case(16, 32); }},
    {"scale", scale_case},
    {"attention", [] { return attention_case({2, 5, 2, 3}); }},
    {"attention_one_token", [] { return attention_case({3, 1, 2, 4}); }},
    {"attention_masked", [] { return attention_case({4, 6, 2, 3, true}); }},
    {"attention_masked_wide", [] { return attention_case({3, 17, 2, 32, true}); }, false, 5e-5},
    {"attention_wide", [] { return attention_case({2, 24, 3, 16}); }, false, 5e-5},
    {"attention_dropout", [] { return attention_case({2, 5, 3, 4, false, 0.3}); }},
    {"attention_masked_dropout", [] { return attention_case({3, 9, 2, 8, true, 0.2}); }},
    {"encoder", [] { return encoder_case(3, 5, 8, 0); }, false, 5e-5},
    {"encoder_dropout", [] { return encoder_case(2, 7, 16, 0.1); }, true, 5e-5},
    {"encoder_wide", [] { return encoder_case(2, 16, 64, 0.1); }, true, 1e-4},
    {"dropout_add", [] { return dropout_add_case(5, 9); }, true},
    {"dropout_add_wide", [] { return dropout_add_case(12, 48); }, true, 5e-5},
    {"lstm_one_step", [] { return lstm_case(1, 3, 4, 5, 1); }},
    {"lstm_steps", [] { return lstm_case(4, 3, 2, 5, 1); }},
    {"lstm_two_layers", [] { return lstm_case(5, 2, 3, 4, 2); }},
    {"lstm_wide", [] { return lstm_case(6, 8, 16, 32, 2); }, false, 5e-5},
    {"lstm_last", [] { return lstm_last_case(7, 3, 5, 6); }},
    {"lstm_batch_1", [] { return lstm_last_case(4, 1, 1, 3); }},
    {"ignore_negative", [] { return ignoring_case(0); }},
    {"ignore_negative_smoothing", [] { return ignoring_case(0.1); }},
    {"ignore_negative_all", all_ignored_case},
    {"vocabulary_loss", [] { return vocabulary_case(7, 9, {}); }},
    {"vocabulary_loss_wide", [] { return vocabulary_case(12, 130, {.ignore_negative = true}); }},
    {"vocabulary_loss_smoothing", [] { return vocabulary_case(8, 11, {.label_smoothing = 0.1, .ignore_negative = true}); }},
    {"mse", [] { return mse_case(4, 3); }},
    {"mse_wide", [] { return mse_case(9, 24); }},
    {"pinball_one", [] { return pinball_case(5, 3, {0.3}); }},
    {"pinball_three", [] { return pinball_case(6, 4, {0.1, 0.5, 0.9}); }},
    {"pinball_two", [] { return pinball_case(4, 5, {0.25, 0.75}); }},
};

}  // namespace

const std::vector<OperationCase>& sequence_cases() { return table; }

}  // namespace gpusizer
