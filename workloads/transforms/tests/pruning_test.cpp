// SPDX-License-Identifier: Apache-2.0
// Pruning on a small example.
#include "workloads/transforms/pruning.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/sequence_layers.hpp"

namespace gpusizer {
namespace {

Program tied_net() {
  ProgramBuilder b{"net", 1};
  const TensorId x = embedding(b, "words", b.input("ids", {1, 1}, DType::i32), 2, 2);
  const TensorId y = dense(b, "b", dense(b, "a", x, 2), 2);
  b.apply(OpKind::linear, "tied", {y, b.program().find("words.weight")->id});
  return b.finish();
}

TensorValues weights() {
  return {{"words.weight", {0.1f, 0.1f, 0.1f, 0.1f}},
          {"a.weight", {1, -2, 0.5f, 8}},
          {"a.bias", {0.1f, 0.1f}},
          {"b.weight", {-0.25f, 3, 4, -5}},
          {"b.bias", {0.1f, 0.1f}}};
}

TEST(Prune, SetsTheSmallestWeightsOfAllLayersToZero) {
  TensorValues v = weights();
  const Pruned pruned = prune(tied_net(), 0.5, v);
  EXPECT_EQ(pruned.weights, 8);
  EXPECT_EQ(pruned.zeros, 4);
  EXPECT_EQ(pruned.threshold, 2);
  EXPECT_EQ(v.at("a.weight"), (std::vector<float>{0, 0, 0, 8}));
  EXPECT_EQ(v.at("b.weight"), (std::vector<float>{0, 3, 4, -5}));
  EXPECT_EQ(v.at("a.bias"), weights().at("a.bias"));
  EXPECT_EQ(v.at("words.weight"), weights().at("words.weight")) << "a table of embeddings";
}

TEST(Prune, NothingOfNothing) {
  TensorValues v = weights();
  EXPECT_EQ(prune(tied_net(), 0, v).zeros, 0);
  EXPECT_EQ(v, weights());
}

TEST(Prune, RefusesImpossibleSharesAndWeights) {
  TensorValues v = weights();
  EXPECT_THROW(prune(tied_net(), 1, v), Error);
  EXPECT_THROW(prune(tied_net(), -0.1, v), Error);
  EXPECT_THROW(prune(tied_net(), NAN, v), Error);
  v["a.weight"][0] = NAN;
  EXPECT_THROW(prune(tied_net(), 0.5, v), Error);
  v.erase("a.weight");
  EXPECT_THROW(prune(tied_net(), 0.5, v), Error);
}

}  // namespace
}  // namespace gpusizer
