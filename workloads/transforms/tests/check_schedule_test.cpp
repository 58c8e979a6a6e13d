// SPDX-License-Identifier: Apache-2.0
// Planted faults of ranks' programs, and the sentences that say them.
#include "workloads/transforms/check_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/program/builder.hpp"

namespace gpusizer {
namespace {

// A rank's program of a few exchanges.
class ExchangingRank {
 public:
  explicit ExchangingRank(int32_t rank) : rank_(rank), b_("rank", 1) { x_ = b_.input("x", {4}); }

  ExchangingRank& reduce(const std::string& name, std::vector<int32_t> ranks, Shape shape = {4},
                         DType dtype = DType::f32) {
    const TensorId in = b_.input(name + ":in", std::move(shape), dtype);
    b_.apply(OpKind::all_reduce, name, {in}, CollectiveAttributes{rank_, std::move(ranks), {}}, Phase::communicate);
    return *this;
  }
  ExchangingRank& send(const std::string& name, int32_t to) { return send(name, to, x_); }
  ExchangingRank& send(const std::string& name, int32_t to, TensorId what) {
    b_.apply(OpKind::send, name, {what}, MessageAttributes{to, {}}, Phase::communicate);
    return *this;
  }
  ExchangingRank& receive(const std::string& name, int32_t from, Shape shape = {4}) {
    last_ =
        b_.apply(OpKind::receive, name, {}, MessageAttributes{from, {{name, std::move(shape)}}}, Phase::communicate)[0];
    return *this;
  }
  TensorId last() const { return last_; }
  ExchangingRank& compute(const std::string& name) {
    last_ = b_.apply(OpKind::add, name, {last_, last_}, AddAttributes{})[0];
    return *this;
  }
  ExchangingRank& reduce_last(const std::string& name, std::vector<int32_t> ranks) {
    last_ = b_.apply(OpKind::all_reduce, name, {last_}, CollectiveAttributes{rank_, std::move(ranks), {}},
                     Phase::communicate)[0];
    return *this;
  }
  Program program() { return b_.finish(); }

 private:
  int32_t rank_;
  ProgramBuilder b_;
  TensorId x_, last_;
};

std::vector<std::string> schedule_faults(std::vector<ExchangingRank> ranks) {
  std::vector<Program> programs;
  for (ExchangingRank& r : ranks) programs.push_back(r.program());
  return check_schedule(programs);
}

void expect_fault(std::vector<ExchangingRank> ranks, const std::vector<std::string>& words) {
  const auto found = schedule_faults(std::move(ranks));
  ASSERT_EQ(found.size(), 1u);
  for (const std::string& word : words) EXPECT_NE(found[0].find(word), std::string::npos) << word << "\n" << found[0];
}

TEST(CheckSchedule, PassesWhatFits) {
  EXPECT_TRUE(schedule_faults({ExchangingRank(0).reduce("a", {0, 1}).send("m", 1),
                               ExchangingRank(1).receive("m", 0).reduce("a", {0, 1})})
                  .empty());
  EXPECT_TRUE(schedule_faults({}).empty());
  EXPECT_TRUE(
      schedule_faults({ExchangingRank(0).send("m", 1).receive("n", 1), ExchangingRank(1).send("n", 0).receive("m", 0)})
          .empty())
      << "sends and receives go on side by side";
}

TEST(CheckSchedule, OtherOrderOfCollectives) {
  expect_fault({ExchangingRank(0).reduce("a", {0, 1}).reduce("b", {0, 1}, {8}),
                ExchangingRank(1).reduce("b", {0, 1}, {8}).reduce("a", {0, 1})},
               {"collective 1 among ranks 0, 1", "rank 0 runs all_reduce 'a' of f32 [4]",
                "rank 1 runs all_reduce 'b' of f32 [8]"});
}

TEST(CheckSchedule, OtherElementType) {
  expect_fault({ExchangingRank(0).reduce("a", {0, 1}), ExchangingRank(1).reduce("a", {0, 1}, {4}, DType::f16)},
               {"f32 [4]", "f16 [4]"});
}

TEST(CheckSchedule, AMissingCollective) {
  expect_fault({ExchangingRank(0).reduce("a", {0, 1}), ExchangingRank(1)},
               {"rank 0 runs all_reduce 'a' of f32 [4] among ranks 0, 1", "rank 1 has no collective 1 of that group"});
}

TEST(CheckSchedule, RanksThatDoNotExistOrAreOthers) {
  expect_fault({ExchangingRank(0).reduce("a", {0, 1})},
               {"rank 0 runs all_reduce 'a'", "with rank 1, which does not exist"});
  expect_fault({ExchangingRank(1).reduce("a", {1}), ExchangingRank(1).reduce("b", {1})},
               {"rank 0 runs all_reduce 'a'", "as if it were rank 1"});
  expect_fault({ExchangingRank(0).send("m", 0).receive("m", 0)}, {"rank 0 exchanges", "with itself"});
  expect_fault({ExchangingRank(0).send("m", 7)},
               {"rank 0 runs send 'm' of f32 [4] to rank 7, which never receives it"});
}

TEST(CheckSchedule, AMissingReceive) {
  expect_fault({ExchangingRank(0).send("m", 1), ExchangingRank(1)},
               {"rank 0 runs send 'm' of f32 [4] to rank 1, which never receives it"});
  expect_fault({ExchangingRank(0), ExchangingRank(1).receive("m", 0)},
               {"rank 1 runs receive 'm'", "from rank 0, which never sends it"});
}

TEST(CheckSchedule, OtherContents) {
  expect_fault({ExchangingRank(0).send("m", 1), ExchangingRank(1).receive("m", 0, {2, 2})},
               {"message 1 from rank 0 to rank 1", "f32 [4]", "f32 [2, 2]"});
}

TEST(CheckSchedule, CrossedGroupsWaitForEver) {
  expect_fault(
      {ExchangingRank(0).reduce("a", {0, 1}).reduce("c", {0, 2}),
       ExchangingRank(1).reduce("b", {1, 2}).reduce("a", {0, 1}),
       ExchangingRank(2).reduce("c", {0, 2}).reduce("b", {1, 2})},
      {"the step would never end", "rank 0 waits in all_reduce 'a' (operation 0) for rank 1 to come to all_reduce 'a'",
       "rank 1 waits in all_reduce 'b'", "rank 2 waits in all_reduce 'c'"});
}

TEST(CheckSchedule, MessagesInARingOfNeeds) {
  ExchangingRank first(0), second(1);
  first.receive("g", 1).send("m", 1, first.last());
  second.receive("m", 0).send("g", 0, second.last());
  expect_fault({std::move(first), std::move(second)},
               {"rank 0 waits in receive 'g' (operation 0) for rank 1 to come to send 'g' (operation 1)",
                "rank 1 waits in receive 'm'"});
}

TEST(CheckSchedule, ReceivesInAnOrderThatNobodySendsIn) {
  // ExchangingRank 2 wants rank 0's message first, which rank 0 sends only after rank 1 had something that waits for
  // rank 2.
  ExchangingRank zero(0), one(1), two(2);
  zero.receive("b", 1).send("a", 2, zero.last());
  one.receive("c", 2).send("b", 0, one.last());
  two.receive("a", 0).send("c", 1, two.last());
  expect_fault({std::move(zero), std::move(one), std::move(two)}, {"rank 0 waits", "rank 1 waits", "rank 2 waits"});
}

TEST(CheckSchedule, ACollectiveThatNeedsAMessageBehindIt) {
  ExchangingRank zero(0), one(1);
  zero.receive("m", 1).compute("y").reduce_last("r", {0, 1});
  one.receive("never", 0).reduce_last("r", {0, 1}).send("m", 0, one.last());
  zero.send("never", 1, zero.last());
  expect_fault({std::move(zero), std::move(one)}, {"rank 0 waits in receive 'm'", "rank 1 waits in receive 'never'"});
}

TEST(CheckSchedule, ThrowsWithTheFirstFault) {
  std::vector<Program> programs{ExchangingRank(0).send("m", 1).send("n", 2).program(), ExchangingRank(1).program(),
                                ExchangingRank(2).program()};
  try {
    require_schedule(programs);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("and 1 more"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace gpusizer
