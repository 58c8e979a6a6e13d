// SPDX-License-Identifier: Apache-2.0
// What tensor parallelism shares out among slices, what it leaves whole, and what it refuses.
#include "workloads/transforms/tensor_parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/facts.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/program/sequence_layers.hpp"

namespace gpusizer {
namespace {

Program sliced_bert(int64_t vocabulary, int64_t heads = 4, int64_t feed_forward = 40,
                    const char* head = "pretraining") {
  return build_model(find_model("bert-mini"),
                     {.classes = 3,
                      .layers = 2,
                      .hidden = 24,
                      .heads = heads,
                      .feed_forward = feed_forward,
                      .vocabulary = vocabulary,
                      .sequence = 9,
                      .predictions = 4,
                      .head = head},
                     3, Mode::train);
}

int64_t operations_of(const Program& p, OpKind kind) {
  return std::ranges::count(p.operations, kind, &Operation::kind);
}

std::string slice_refusal(const Program& forward, const SliceGroup& group) {
  try {
    tensor_parallel(forward, group);
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::usage);
    return e.what();
  }
  return "";
}

TEST(TensorParallel, SplitsHeadsWidthsAndWords) {
  const Program p = tensor_parallel(sliced_bert(60), {6, {2, 6}});
  const std::string layer = "bert.encoder.layer.1.";
  EXPECT_EQ(p.find(layer + "attention.self.qkv.weight")->part, (Part{{72, 24}, 0, 3, 1, 2}));
  EXPECT_EQ(p.find(layer + "attention.self.qkv.bias")->part, (Part{{72}, 0, 3, 1, 2}));
  EXPECT_EQ(p.find(layer + "attention.output.dense.weight")->part, (Part{{24, 24}, 1, 1, 1, 2}));
  EXPECT_EQ(p.find(layer + "intermediate.dense.weight")->part, (Part{{40, 24}, 0, 1, 1, 2}));
  EXPECT_EQ(p.find(layer + "output.dense.weight")->part, (Part{{24, 40}, 1, 1, 1, 2}));
  EXPECT_EQ(p.find("bert.embeddings.word_embeddings.weight")->part, (Part{{60, 24}, 0, 1, 1, 2}));
  EXPECT_EQ(p.find("cls.predictions.bias")->part, (Part{{60}, 0, 1, 1, 2}));
  EXPECT_EQ(p.find(layer + "attention.output.dense.weight")->shape, (Shape{24, 12}));
  for (const char* whole : {"attention.output.LayerNorm.weight", "output.LayerNorm.bias"})
    EXPECT_FALSE(p.find(layer + whole)->part) << whole;
  EXPECT_FALSE(p.find("bert.embeddings.token_type_embeddings.weight")->part);
  EXPECT_FALSE(p.find("cls.predictions.transform.dense.weight")->part);
}

TEST(TensorParallel, ExchangesOnceForEachPairOfLayers) {
  const Program p = tensor_parallel(sliced_bert(60), {0, {0, 1}});
  EXPECT_EQ(operations_of(p, OpKind::all_reduce), 2 * 2 + 1);  // and the words
  EXPECT_EQ(operations_of(p, OpKind::fork), 2 * 2 + 1);        // and the decoder
  EXPECT_EQ(operations_of(p, OpKind::all_gather), 1);
  EXPECT_EQ(operations_of(p, OpKind::vocabulary_loss), 1);
  const Program step = remove_forks(differentiate(p)).program;
  EXPECT_EQ(operations_of(step, OpKind::fork), 0);
  EXPECT_EQ(operations_of(step, OpKind::all_reduce), 2 * 5);
  for (const Operation& op : step.operations) {
    if (op.kind != OpKind::all_reduce) continue;
    EXPECT_EQ(op.phase, Phase::communicate);
    EXPECT_EQ(std::get<CollectiveAttributes>(op.attributes).ranks, (std::vector<int32_t>{0, 1}));
    if (op.forward_op < 0) continue;
    EXPECT_EQ(step.operations[static_cast<size_t>(op.forward_op)].kind, OpKind::linear) << op.layer;
  }
}

TEST(TensorParallel, SlicesMakeTheWhole) {
  const Program whole = sliced_bert(60);
  const int64_t parameters = facts(whole).parameters;
  int64_t split = 0;
  for (int32_t rank = 0; rank < 2; ++rank)
    for (const Tensor& t : tensor_parallel(whole, {rank, {0, 1}}).tensors)
      if (t.role == Role::parameter && counts_on_slice(t, rank)) split += element_count(t.shape);
  EXPECT_EQ(split, parameters);
}

TEST(TensorParallel, TheBiasOfASecondLayerIsAddedOnce) {
  const Program first = tensor_parallel(sliced_bert(60), {0, {0, 1}}),
                second = tensor_parallel(sliced_bert(60), {1, {0, 1}});
  const char* bias = "bert.encoder.layer.0.output.dense.bias";
  EXPECT_TRUE(first.find(bias));
  EXPECT_FALSE(second.find(bias));
}

TEST(TensorParallel, HeadsDrawWhatTheyDrawInTheWhole) {
  const Program p = tensor_parallel(sliced_bert(60), {1, {0, 1}});
  for (const Operation& op : p.operations) {
    if (op.kind != OpKind::attention) continue;
    const auto& a = std::get<AttentionAttributes>(op.attributes);
    EXPECT_EQ(a.heads, 2);
    EXPECT_EQ(a.first_head, 2);
    EXPECT_EQ(a.all_heads, 4);
  }
}

TEST(TensorParallel, LeavesAVocabularyThatCannotBeDividedWhole) {
  const Program p = tensor_parallel(sliced_bert(61), {0, {0, 1}});
  EXPECT_FALSE(p.find("bert.embeddings.word_embeddings.weight")->part);
  EXPECT_EQ(operations_of(p, OpKind::softmax_cross_entropy), 2);
  EXPECT_EQ(operations_of(p, OpKind::fork), 2 * 2);
}

TEST(TensorParallel, LeavesATableWithOtherReadersWhole) {
  ProgramBuilder b("other", 2);
  const TensorId ids = b.input("ids", {2, 4}, DType::i32), labels = b.input("labels", {2}, DType::i32);
  TensorId x = embedding(b, "words", ids, 12, 8);
  const TensorId words = b.program().find("words.weight")->id;
  x = encoder_block(b, "layer", x, {.hidden = 8, .heads = 2, .feed_forward = 8, .sequence = 4});
  x = gelu(b, "gelu", b.apply(OpKind::linear, "similar", {every_row(b, "first", x, 2, 4, 0), words})[0]);
  classification_loss(b, linear(b, "out", x, 3), labels);
  EXPECT_FALSE(tensor_parallel(b.finish(), {0, {0, 1}}).find("words.weight")->part);
}

TEST(TensorParallel, OneRankKeepsItsProgram) {
  const Program p = tensor_parallel(sliced_bert(60), {3, {3}});
  EXPECT_EQ(p.operations.size(), sliced_bert(60).operations.size());
  EXPECT_EQ(operations_of(p, OpKind::fork), 0);
}

TEST(TensorParallel, StateOfTheOptimizerIsSplitAsItsParameterIs) {
  const Differentiated step = remove_forks(differentiate(tensor_parallel(sliced_bert(60), {0, {0, 1}})));
  const Program p = add_optimizer(step.program, step.gradients, {.kind = OptimizerKind::adamw});
  const std::string name = "bert.encoder.layer.0.intermediate.dense.weight";
  EXPECT_EQ(p.find(name + ":v")->part, p.find(name)->part);
  EXPECT_FALSE(p.find("bert.embeddings.LayerNorm.weight:m")->part);
  EXPECT_THROW(add_optimizer(step.program, step.gradients, {.kind = OptimizerKind::lamb}), Error);
}

TEST(TensorParallel, RefusesWhatCannotBe) {
  const SliceGroup three{0, {0, 1, 2}}, two{0, {0, 1}};
  EXPECT_NE(slice_refusal(sliced_bert(60), three).find("4 heads cannot be shared out evenly among tp=3"),
            std::string::npos);
  EXPECT_NE(slice_refusal(sliced_bert(60, 3, 41), three).find("feed-forward width of 41"), std::string::npos);
  for (const char* model : {"resnet8", "lstm"}) {
    const Program forward = build_model(find_model(model), {.features = 2}, 2, Mode::train);
    EXPECT_NE(slice_refusal(forward, two).find("has no attention"), std::string::npos);
  }
  EXPECT_NE(slice_refusal(sliced_bert(60), {5, {0, 1}}).find("rank 5 is not among"), std::string::npos);
  EXPECT_NE(slice_refusal(differentiate(sliced_bert(60)).program, two).find("before the program is differentiated"),
            std::string::npos);
}

}  // namespace
}  // namespace gpusizer
