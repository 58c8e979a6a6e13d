// SPDX-License-Identifier: Apache-2.0
// Sums that are told some steps later, on every backend: who waits for whom, and that programs share what is under way.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "workloads/backend/backend.hpp"
#include "workloads/backend/tests/ranks.hpp"
#include "workloads/backend/tests/training_run.hpp"
#include "workloads/program/builder.hpp"
#include "workloads/transforms/delayed_sum.hpp"

namespace gpusizer {
namespace {

constexpr int64_t late_elements = 9000;  // more than small_bucket_bytes: its sum takes two rounds of messages

// total += the sum over two ranks of what x and y were `delay` steps ago.
Program late_total(int32_t rank, int32_t delay, int64_t batch) {
  ProgramBuilder b("late", batch);
  const TensorId x = b.input("x", {late_elements}), y = b.input("y", {3});
  const TensorId doubled = b.apply(OpKind::scale, "doubled", {x}, ScaleAttributes{2})[0];
  const TensorId same = b.apply(OpKind::scale, "same", {y}, ScaleAttributes{1})[0];
  Insertion edit{b.finish()};
  const CollectiveAttributes both{rank, {0, 1}, {}, delay};
  const auto xs = add_delayed_sum(edit, 0, "sums.x", {{doubled, "x"}}, both);
  const auto ys = add_delayed_sum(edit, 1, "sums.y", {{same, "y"}}, both);
  ProgramBuilder c{edit.finish()};
  const TensorId rate = c.scalar("rate", -1);
  const auto add_to = [&](const char* name, TensorId sum) {
    const TensorId total = c.persistent(name, c.shape(sum), Role::parameter, {});
    c.apply(OpKind::sgd, name, {total, sum, rate}, SgdAttributes{}, Phase::update);
  };
  add_to("total.x", xs[0]);
  add_to("total.y", ys[0]);
  return count_delayed_steps(c.finish());
}

// One rank: two programs that share what is under way, as those of whole and of last batches do.
class LateRank {
 public:
  LateRank(const std::string& backend_name, Communicator& c, int32_t delay) : rank_(c.rank()) {
    const auto backend = make_backend(backend_name);
    Device device = backend->probe().devices.at(0);
    device.threads = 1;
    std::vector<LoweredProgram> programs;
    for (const int64_t batch : {8, 5}) programs.push_back(lower(late_total(c.rank(), delay, batch), backend->target(device)));
    executor_ = backend->make_executor(std::move(programs), device, &c);
    initialize(*executor_, 2, 1);
  }
  // Adds 2 (rank + 1) (step + 1) to what the ranks have together.
  void step(int number) {
    const float value = static_cast<float>((rank_ + 1) * (number + 1));
    x_.assign(late_elements, value);
    y_.assign(3, value);
    const int which = number % 3 == 2 ? 1 : 0;
    const Program& p = executor_->program(which).program;
    const std::array inputs{Binding{p.find("x")->id, x_.data()}, Binding{p.find("y")->id, y_.data()}};
    executor_->enqueue(which, inputs);
    executor_->collect();
  }
  Executor& executor() { return *executor_; }

 private:
  int rank_;
  std::unique_ptr<Executor> executor_;
  std::vector<float> x_, y_;
};

// 3 (1 + 2 + ... + steps)
float sum_of_steps(int steps) { return 3.0f * static_cast<float>(steps * (steps + 1)) / 2; }

class Delayed : public testing::TestWithParam<std::string> {};

TEST_P(Delayed, TellsEverySumOnceAndExactlySoManyStepsLater) {
  for (const int delay : {0, 1, 2, 5})
    on_ranks(2, [&](Communicator& c) {
      LateRank rank(GetParam(), c, delay);
      for (int step = 0; step < 11; ++step) {
        rank.step(step);
        if (step != 4 && step != 10) continue;  // reading waits for what is under way
        const Values now = read_persistent(rank.executor(), 0);
        const float told = sum_of_steps(std::max(0, step + 1 - delay));
        EXPECT_EQ(now.at("total.x"), std::vector<float>(late_elements, 2 * told)) << delay << " " << step;
        EXPECT_EQ(now.at("total.y"), std::vector<float>(3, told)) << delay << " " << step;
      }
    });
}

// Without a clock: rank 1 does not begin before rank 0 has done as many steps as it may be ahead, and whenever rank 0 has
// done a step, rank 1 has begun the one of so many steps before.
TEST_P(Delayed, ASlowRankHoldsUpTheOthersOnlyAfterSoManySteps) {
  constexpr int delay = 3, steps = 9;
  std::atomic<int> done = 0, begun = 0;
  on_ranks(2, [&](Communicator& c) {
    LateRank rank(GetParam(), c, delay);
    for (int step = 0; step < steps; ++step) {
      if (c.rank() == 1) {
        const int ahead = std::min(step + delay, steps);
        for (int seen = done; seen < ahead; seen = done) done.wait(seen);
        begun = step + 1;
      }
      rank.step(step);
      if (c.rank() == 1) continue;
      EXPECT_GE(begun, step + 1 - delay);
      done = step + 1;
      done.notify_all();
    }
  });
}

TEST_P(Delayed, WhatIsUnderWayCanBeSavedAndGoneOnWith) {
  std::array<Values, 2> saved, expected;
  on_ranks(2, [&](Communicator& c) {
    LateRank rank(GetParam(), c, 2);
    for (int step = 0; step < 4; ++step) rank.step(step);
    saved[static_cast<size_t>(c.rank())] = read_persistent(rank.executor(), 0);
    for (int step = 4; step < 8; ++step) rank.step(step);
    expected[static_cast<size_t>(c.rank())] = read_persistent(rank.executor(), 0);
  });
  EXPECT_EQ(saved[0], saved[1]) << "one rank's will do";
  on_ranks(2, [&](Communicator& c) {
    LateRank rank(GetParam(), c, 2);
    for (const auto& [name, values] : saved[0]) rank.executor().write(name, values);
    for (int step = 4; step < 8; ++step) rank.step(step);
    EXPECT_EQ(read_persistent(rank.executor(), 0), expected[0]);
  });
}

TEST_P(Delayed, ALostRankEndsTheOthersWait) {
  const auto errors = errors_of_ranks(2, [&](Communicator& c) {
    LateRank rank(GetParam(), c, 1);
    for (int step = 0; step < 6 - 3 * c.rank(); ++step) rank.step(step);
    if (c.rank() == 1) c.abort("rank 1 gave up");
  });
  EXPECT_NE(errors[0].find("gave up"), std::string::npos) << errors[0];
}

INSTANTIATE_TEST_SUITE_P(Backends, Delayed, testing::ValuesIn(all_backends()));

}  // namespace
}  // namespace gpusizer
