// SPDX-License-Identifier: Apache-2.0
// What waits for what: worked examples of programs with communication.
#include "workloads/backend/streams/stream_plan.hpp"

#include <gtest/gtest.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/layers.hpp"

namespace gpusizer {
namespace {

const CollectiveAttributes pair{0, {0, 1}, {}};

TEST(StreamPlan, AProgramOfOneRankHasOneStream) {
  ProgramBuilder b("one", 1);
  relu(b, "relu", relu(b, "first", b.input("x", {4})));
  const StreamPlan plan = stream_plan(b.finish());
  EXPECT_FALSE(plan.communicates());
  ASSERT_EQ(plan.streams[compute_stream].size(), 2u);
  for (const auto& step : plan.streams[compute_stream]) EXPECT_FALSE(step.waits || step.awaited);
}

// a, sum of a, b (which does not read the sum), c (which does).
TEST(StreamPlan, OnlyWhoReadsTheSumWaitsForIt) {
  ProgramBuilder b("overlap", 1);
  const TensorId a = relu(b, "a", b.input("x", {4}));
  const TensorId sum = b.apply(OpKind::all_reduce, "sum", {a}, pair, Phase::communicate)[0];
  relu(b, "b", a);
  relu(b, "c", sum);
  relu(b, "d", sum);
  const StreamPlan plan = stream_plan(b.finish());
  EXPECT_TRUE(plan.communicates());
  const auto& computation = plan.streams[compute_stream];
  ASSERT_EQ(computation.size(), 4u);
  const bool awaited[] = {true, false, false, false}, waits[] = {false, false, true, false};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(computation[i].awaited, awaited[i]) << i;
    EXPECT_EQ(computation[i].waits, waits[i]) << i << ": d knows already what c waited for";
  }
  ASSERT_EQ(plan.streams[collective_stream].size(), 1u);
  EXPECT_EQ(plan.streams[collective_stream][0].operation, 1);
  EXPECT_EQ(plan.streams[collective_stream][0].needs[compute_stream], 1);
  EXPECT_EQ(computation[2].needs[collective_stream], 1);
  EXPECT_EQ(plan.totals, (StreamCounts{4, 1, 0, 0}));
}

// What arrives is sent on: the message out waits for the message in, that for the computation before it, and computation
// for neither.
TEST(StreamPlan, MessagesWaitForMessages) {
  ProgramBuilder b("relay", 1);
  relu(b, "a", b.input("x", {4}));
  MessageAttributes from{0, {{"got", {4}, DType::f32, Role::activation}}};
  const TensorId got = b.apply(OpKind::receive, "receive", {}, from, Phase::communicate)[0];
  b.apply(OpKind::send, "send", {got}, MessageAttributes{2, {}}, Phase::communicate);
  const StreamPlan plan = stream_plan(b.finish());
  EXPECT_FALSE(plan.streams[compute_stream][0].waits);
  EXPECT_EQ(plan.streams[receive_stream][0].needs, (StreamCounts{1, 0, 0, 0}));
  EXPECT_EQ(plan.streams[send_stream][0].needs, (StreamCounts{1, 0, 0, 1}));
}

// Two messages out to one rank and one to another; what comes answers the first of the two.
TEST(StreamPlan, AnAnswerWaitsForWhatItAnswers) {
  ProgramBuilder b("answer", 1);
  const TensorId x = b.persistent("x", {4}, Role::parameter, {});
  for (const int32_t peer : {2, 1, 2}) b.apply(OpKind::send, "send", {x}, MessageAttributes{peer, {}}, Phase::communicate);
  const MessageAttributes from{2, {{"got", {4}, DType::f32, Role::activation}}, 1};
  const TensorId got = b.apply(OpKind::receive, "receive", {}, from, Phase::communicate)[0];
  relu(b, "a", got);
  const StreamPlan plan = stream_plan(b.finish());
  EXPECT_EQ(plan.streams[receive_stream][0].needs, (StreamCounts{0, 0, 1, 0}));
  EXPECT_EQ(plan.streams[compute_stream][0].needs, (StreamCounts{0, 0, 1, 1}));
}

// An update overwrites what is still on its way to another rank.
TEST(StreamPlan, WhoOverwritesWaitsForThoseWhoRead) {
  ProgramBuilder b("update", 1);
  const TensorId w = b.persistent("w", {4}, Role::parameter, {}), rate = b.scalar("learning_rate", 0);
  b.apply(OpKind::send, "send", {w}, MessageAttributes{1, {}}, Phase::communicate);
  b.apply(OpKind::sgd, "w", {w, b.input("gradient", {4}), rate}, SgdAttributes{}, Phase::update);
  const StreamPlan plan = stream_plan(b.finish());
  EXPECT_TRUE(plan.streams[compute_stream][0].waits);
  EXPECT_EQ(plan.streams[compute_stream][0].needs, (StreamCounts{0, 0, 1, 0}));
}

}  // namespace
}  // namespace gpusizer
