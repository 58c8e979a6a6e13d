// SPDX-License-Identifier: Apache-2.0
// Batch norms over several ranks, and of groups: what stands in their place, and what is refused.
#include "workloads/transforms/sync_batch_norm.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/autodiff.hpp"

namespace gpusizer {
namespace {

Program normed_cnn(int64_t batch, Mode mode = Mode::train) {
  return build_model(find_model("resnet8"), {10, 28, 1, "cifar"}, batch, mode);
}

int64_t how_many(const Program& p, OpKind kind) { return std::ranges::count(p.operations, kind, &Operation::kind); }

TEST(SyncBatchNorm, ExchangesOnceEachWay) {
  const int64_t norms = how_many(normed_cnn(2), OpKind::batch_norm);
  const Program p = sync_batch_norm(normed_cnn(2), 4, {1, 4});
  EXPECT_EQ(how_many(p, OpKind::batch_norm), 0);
  EXPECT_EQ(how_many(p, OpKind::batch_norm_apply), norms);
  EXPECT_EQ(how_many(p, OpKind::all_gather), norms);
  const Program step = differentiate(p).program;
  EXPECT_EQ(how_many(step, OpKind::all_reduce), norms);
  for (const Operation& op : step.operations)
    if (op.kind == OpKind::all_reduce || op.kind == OpKind::all_gather) {
      const auto& a = std::get<CollectiveAttributes>(op.attributes);
      EXPECT_EQ(a.rank, 4);
      EXPECT_EQ(a.ranks, (std::vector<int32_t>{1, 4}));
      EXPECT_EQ(op.phase, Phase::communicate);
    }
}

TEST(SyncBatchNorm, KeepsParametersAndStates) {
  const Program before = normed_cnn(2), after = sync_batch_norm(before, 0, {0, 1});
  for (const Tensor& t : before.tensors) {
    if (!is_persistent(t.role)) continue;
    ASSERT_TRUE(after.find(t.name)) << t.name;
    EXPECT_EQ(after.find(t.name)->shape, t.shape) << t.name;
  }
}

TEST(SyncBatchNorm, OneRankKeepsItsProgram) {
  EXPECT_EQ(how_many(sync_batch_norm(normed_cnn(2), 3, {3}), OpKind::batch_norm),
            how_many(normed_cnn(2), OpKind::batch_norm));
}

TEST(SyncBatchNorm, RefusesWhatCannotBe) {
  EXPECT_FALSE(has_batch_statistics(normed_cnn(2, Mode::evaluate)));
  EXPECT_THROW(sync_batch_norm(normed_cnn(2, Mode::evaluate), 0, {0, 1}), Error);
  EXPECT_THROW(sync_batch_norm(set_norm_group(normed_cnn(4), 2), 0, {0, 1}), Error);
  EXPECT_THROW(sync_batch_norm(differentiate(normed_cnn(2)).program, 0, {0, 1}), Error);
}

TEST(NormGroup, IsSetOnEveryBatchNorm) {
  const Program p = set_norm_group(normed_cnn(6), 2);
  for (const Operation& op : differentiate(p).program.operations) {
    if (op.kind != OpKind::batch_norm && op.kind != OpKind::batch_norm_backward) continue;
    EXPECT_EQ(std::get<NormAttributes>(op.attributes).group, 2);
  }
}

TEST(NormGroup, RefusesWhatCannotBe) {
  EXPECT_THROW(set_norm_group(normed_cnn(6), 4), Error);
  EXPECT_THROW(set_norm_group(normed_cnn(6), 0), Error);
  EXPECT_THROW(set_norm_group(normed_cnn(6, Mode::evaluate), 2), Error);
  EXPECT_THROW(set_norm_group(differentiate(normed_cnn(6)).program, 2), Error);
}

}  // namespace
}  // namespace gpusizer
