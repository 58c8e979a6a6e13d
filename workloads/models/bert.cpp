// SPDX-License-Identifier: Apache-2.0
// BERT with masked-language-model and next-sentence heads, or with a sentence-classification head.
#include "workloads/models/bert.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/sequence_layers.hpp"

namespace gpusizer::bert {

namespace {

constexpr int64_t published_positions = 512;

struct Network {
  ProgramBuilder builder;
  const ModelOptions& options;
  int64_t batch;
  double dropout, label_smoothing;
};

void check(const ModelOptions& o) {
  const auto refuse = [](const std::string& what, const char* flag, const char* hint) {
    throw Error(Fault::usage, what, flag, hint);
  };
  if (o.layers < 1) refuse(fmt::format("{} layers are no encoder", o.layers), "--layers", "use at least 1");
  if (o.hidden < 1 || o.heads < 1 || o.hidden % o.heads != 0)
    refuse(fmt::format("{} heads do not divide a hidden size of {}", o.heads, o.hidden), "--heads",
           "use a divisor of --hidden");
  if (o.feed_forward < 1) refuse(fmt::format("the feed-forward width {} is too small", o.feed_forward), "--feed-forward",
                                 "use at least 1");
  if (o.sequence < 8) refuse(fmt::format("a sequence of {} is too short", o.sequence), "--sequence", "use at least 8");
  if (o.head == "pretraining" && (o.predictions < 1 || o.predictions > o.sequence))
    refuse(fmt::format("{} masked positions do not fit a sequence of {}", o.predictions, o.sequence), "--predictions",
           "use 1 up to --sequence");
  if (o.head == "pretraining" && o.label_smoothing.value_or(0) > 0)
    refuse("masked words are not smoothed", "--label-smoothing", "leave it out, or use --head classification");
  if (o.vocabulary < 2) refuse(fmt::format("a vocabulary of {} is too small", o.vocabulary), "--vocabulary",
                               "use at least 2");
}

struct Tokens {
  TensorId words;  // the word table, which the masked-LM head shares
  TensorId rows;   // [batch * sequence, hidden]
  TensorId lengths;
};

TensorId token_input(Network& n, const char* name) {
  return n.builder.input(name, {n.batch, n.options.sequence}, DType::i32);
}

Tokens embeddings(Network& n) {
  auto& b = n.builder;
  const ModelOptions& o = n.options;
  const std::string layer = "bert.embeddings";
  const TensorId ids = token_input(n, "input_ids"), types = token_input(n, "token_types");
  const TensorId lengths = b.input("lengths", {n.batch}, DType::i32);
  TensorId x = embedding(b, layer + ".word_embeddings", ids, o.vocabulary, o.hidden);
  const TensorId words = b.program().find(layer + ".word_embeddings.weight")->id;
  x = add_positions(b, layer + ".position_embeddings", x, std::max(o.sequence, published_positions), o.sequence);
  x = add(b, layer + ".add", x, embedding(b, layer + ".token_type_embeddings", types, 2, o.hidden));
  x = layer_norm(b, layer + ".LayerNorm", x);
  if (n.dropout > 0) x = dropout(b, layer + ".dropout", x, n.dropout);
  return {words, x, lengths};
}

TensorId encoder(Network& n, const Tokens& tokens) {
  const ModelOptions& o = n.options;
  const EncoderOptions options{.hidden = o.hidden, .heads = o.heads, .feed_forward = o.feed_forward,
                               .sequence = o.sequence, .dropout = n.dropout, .lengths = tokens.lengths};
  TensorId x = tokens.rows;
  for (int64_t i = 0; i < o.layers; ++i) x = encoder_block(n.builder, fmt::format("bert.encoder.layer.{}", i), x, options);
  return x;
}

// The first token of each sequence, through a layer with tanh.
TensorId pooled(Network& n, TensorId x) {
  auto& b = n.builder;
  const TensorId first = every_row(b, "bert.pooler.first_token", x, n.batch, n.options.sequence, 0);
  return tanh(b, "bert.pooler.tanh", dense(b, "bert.pooler.dense", first, n.options.hidden));
}

std::vector<TensorId> masked_lm_loss(Network& n, TensorId x, TensorId words) {
  auto& b = n.builder;
  const ModelOptions& o = n.options;
  const std::string layer = "cls.predictions";
  const TensorId positions = b.input("mlm_positions", {n.batch, o.predictions}, DType::i32);
  const TensorId labels = b.input("mlm_labels", {n.batch, o.predictions}, DType::i32);
  TensorId y = b.apply(OpKind::gather_rows, layer + ".masked", {x, positions},
                       GatherAttributes{.rows = n.batch * o.predictions, .group_indices = o.predictions,
                                        .group_rows = o.sequence})[0];
  y = gelu(b, layer + ".transform.gelu", dense(b, layer + ".transform.dense", y, o.hidden));
  y = layer_norm(b, layer + ".transform.LayerNorm", y);
  const TensorId bias = b.persistent(layer + ".bias", {o.vocabulary}, Role::parameter, {});
  y = b.apply(OpKind::linear, layer + ".decoder", {y, words, bias})[0];
  return b.apply(OpKind::softmax_cross_entropy, "mlm_loss", {y, labels}, LossAttributes{.ignore_negative = true});
}

void pretraining_heads(Network& n, TensorId x, TensorId words) {
  auto& b = n.builder;
  const TensorId nsp_labels = b.input("nsp_labels", {n.batch}, DType::i32);
  const auto mlm = masked_lm_loss(n, x, words);
  const TensorId logits = dense(b, "cls.seq_relationship", pooled(n, x), 2);
  const auto nsp = b.apply(OpKind::softmax_cross_entropy, "nsp_loss", {logits, nsp_labels}, LossAttributes{});
  b.set_loss(add(b, "loss", mlm[0], nsp[0]));
  b.add_output({"mlm_loss", mlm[0], mlm[3]});
  b.add_output({"mlm_accuracy", mlm[1], mlm[3], true});
  b.add_output({"nsp_loss", nsp[0], {}});
  b.add_output({"nsp_accuracy", nsp[1], {}, true});
}

void classification_head(Network& n, TensorId x) {
  auto& b = n.builder;
  if (n.options.classes < 2)
    throw Error(Fault::usage, fmt::format("{} classes cannot be told apart", n.options.classes), "--classes");
  const TensorId labels = b.input("labels", {n.batch}, DType::i32);
  TensorId y = pooled(n, x);
  if (n.dropout > 0) y = dropout(b, "dropout", y, n.dropout);
  classification_loss(b, dense(b, "classifier", y, n.options.classes), labels, n.label_smoothing);
}

}  // namespace

Program build(const ModelEntry& entry, const ModelOptions& o, int64_t batch, Mode mode) {
  check(o);
  Network n{ProgramBuilder{std::string(entry.name), batch}, o, batch, mode == Mode::train ? o.dropout.value_or(0) : 0,
            mode == Mode::train ? o.label_smoothing.value_or(0) : 0};
  const Tokens tokens = embeddings(n);
  const TensorId x = encoder(n, tokens);
  if (o.head == "pretraining") {
    pretraining_heads(n, x, tokens.words);
  } else if (o.head == "classification") {
    classification_head(n, x);
  } else {
    throw Error(Fault::usage, fmt::format("there is no head '{}'", o.head), "--head", "use pretraining or classification");
  }
  return n.builder.finish();
}

}  // namespace gpusizer::bert
