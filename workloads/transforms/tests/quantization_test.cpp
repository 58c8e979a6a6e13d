// SPDX-License-Identifier: Apache-2.0
// Programs of integers, word for word: what is fused, what stays f32, and the scales.
#include "workloads/transforms/quantization.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/autodiff.hpp"
#include "workloads/program/dump.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/sequence_layers.hpp"
#include "workloads/transforms/fold_batch_norm.hpp"
#include "workloads/transforms/quantized_weight.hpp"

namespace gpusizer {
namespace {

// Ones for every persistent tensor, and a range for whatever is asked for.
TensorValues ones(const Program& program) {
  TensorValues values;
  for (const Tensor& t : observe_ranges(program).tensors)
    if (is_persistent(t.role)) values[t.name] = std::vector<float>(static_cast<size_t>(element_count(t.shape)), 1);
  return values;
}

Program image_net() {
  ProgramBuilder b{"net", 1};
  const TensorId labels = b.input("labels", {1}, DType::i32);
  TensorId x = relu(b, "stem.relu", conv2d(b, "stem", b.input("images", {1, 3, 8, 8}), {.channels = 4}));
  x = max_pool(b, "pool", x, {.kernel = 2, .stride = 2});
  const TensorId y = conv2d(b, "conv", x, {.channels = 4, .kernel = 3, .padding = 1});
  x = relu(b, "relu", add(b, "add", y, x));
  classification_loss(b, linear(b, "fc", flatten(b, "flatten", global_avg_pool(b, "average", x)), 2), labels);
  return b.finish();
}

TEST(Quantize, KeepsImagesInIntegersFromLayerToLayer) {
  const Program net = image_net();
  TensorValues values = ones(net);
  values["stem.relu:range"] = {25.5f};
  values["relu:range"] = {51};
  values["average:range"] = {12.7f};
  const Program quantized = quantize(net, values, 1);
  const auto find = [&](OpKind kind) -> const Operation& {
    return *std::ranges::find(quantized.operations, kind, &Operation::kind);
  };
  EXPECT_EQ(std::ranges::count(quantized.operations, OpKind::conv2d, &Operation::kind), 1) << "the first layer";
  EXPECT_EQ(std::ranges::count(quantized.operations, OpKind::add, &Operation::kind), 0);
  EXPECT_EQ(std::ranges::count(quantized.operations, OpKind::quantize, &Operation::kind), 2) << dump(quantized);
  EXPECT_EQ(std::ranges::count(quantized.operations, OpKind::dequantize, &Operation::kind), 1) << "before the average";
  EXPECT_EQ(quantized.tensor(find(OpKind::max_pool).outputs[0]).dtype, DType::u8);
  const auto& conv = std::get<Int8Attributes>(find(OpKind::conv2d_int8).attributes);
  EXPECT_NEAR(conv.x_scale, 0.1, 1e-7);
  EXPECT_NEAR(conv.residual_scale, 0.1, 1e-7);
  EXPECT_NEAR(conv.to.scale, 0.2, 1e-7);
  EXPECT_EQ(conv.to.to, DType::u8);
  EXPECT_EQ(conv.activation, Int8Attributes::Activation::relu);
  const auto& fc = std::get<Int8Attributes>(find(OpKind::linear_int8).attributes);
  EXPECT_EQ(fc.to.to, DType::f32);
  EXPECT_GT(integer_share(quantized), 0.5);
  EXPECT_LT(integer_share(quantized), 1);
}

TEST(Quantize, AsksForTheRangesThatItUses) {
  const Program net = image_net();
  TensorValues values = ones(net);
  EXPECT_EQ(values.count("relu:range"), 1u);
  EXPECT_EQ(values.count("pool:range"), 0u) << "a max-pool passes its input's integers on";
  values["relu:range"] = {NAN};
  EXPECT_THROW(quantize(net, values, 1), Error);
  values.erase("relu:range");
  EXPECT_THROW(quantize(net, values, 1), Error);
}

TEST(Quantize, WritesWholeNumbersAndBiasesInTheirUnits) {
  const Program net = image_net();
  TensorValues values = ones(net);
  values["average:range"] = {25.5f};
  values["fc.bias"] = {2, 3};
  quantize(net, values, 1);
  EXPECT_EQ(values.at("fc.weight:i8"), std::vector<float>(8, 127));
  EXPECT_NEAR(values.at("fc:bias")[0], 2 / (0.1 / 127), 0.1);
}

Program encoder_net() {
  ProgramBuilder b{"net", 1};
  const TensorId labels = b.input("labels", {4}, DType::i32);
  TensorId x = embedding(b, "words", b.input("ids", {1, 4}, DType::i32), 10, 8);
  x = encoder_block(b, "block", x, {.hidden = 8, .heads = 2, .feed_forward = 16, .sequence = 4});
  classification_loss(b, dense(b, "head", x, 3), labels);
  return b.finish();
}

TEST(Quantize, TakesResidualsAndGeluIntoFullyConnectedLayers) {
  const Program net = encoder_net();
  TensorValues values = ones(net);
  const Program quantized = quantize(net, values, 1);
  EXPECT_EQ(std::ranges::count(quantized.operations, OpKind::linear_int8, &Operation::kind), 5);
  for (const OpKind gone : {OpKind::linear, OpKind::gelu, OpKind::add, OpKind::dequantize})
    EXPECT_EQ(std::ranges::count(quantized.operations, gone, &Operation::kind), 0) << dump(quantized);
  EXPECT_EQ(std::ranges::count(quantized.operations, OpKind::quantize, &Operation::kind), 4)
      << "words, context, and what two layer norms give; the middle of the feed-forward part is integers already";
  EXPECT_GT(integer_share(quantized), 0.8);
}

TEST(Quantize, EveryModelCanBeQuantised) {
  for (const ModelEntry& entry : models()) {
    if (entry.name == "bert-1b" || entry.name == "bert-large" || entry.name == "bert-base") continue;  // only larger
    ModelOptions options;
    if (entry.family == "bert") options.vocabulary = 50;
    const Program model = build_model(entry, options, 2, Mode::evaluate);
    TensorValues values = ones(model);
    const Program folded = fold_batch_norm(model, values);
    EXPECT_EQ(std::ranges::count(folded.operations, OpKind::batch_norm, &Operation::kind), 0) << entry.name;
    for (const auto& [name, ranges] : ones(folded)) values.try_emplace(name, ranges);
    const Program quantized = quantize(folded, values, 2);
    EXPECT_GE(quantized.loss.index, 0);
    if (entry.family == "cnn" || entry.family == "bert") {
      EXPECT_GT(integer_share(quantized), 0.6) << entry.name;
    }
  }
}

TEST(Quantize, RefusesProgramsWithGradients) {
  EXPECT_THROW(observe_ranges(differentiate(image_net()).program), Error);
}

TEST(QuantizedWeight, HasAScaleForEachChannel) {
  const QuantizedWeight q = quantize_weight("w", std::vector<float>{1, -2, 0, 0, 12.7f, 0.04f}, 3);
  EXPECT_EQ(q.integers, (std::vector<float>{64, -127, 0, 0, 127, 0}));
  EXPECT_NEAR(q.scales[0], 2 / 127.0, 1e-9);
  EXPECT_EQ(q.scales[1], 1);
  EXPECT_NEAR(q.scales[2], 0.1, 1e-7);
  EXPECT_THROW(quantize_weight("w", std::vector<float>{INFINITY}, 1), Error);
}

}  // namespace
}  // namespace gpusizer
