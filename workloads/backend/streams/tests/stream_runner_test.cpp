// SPDX-License-Identifier: Apache-2.0
// The order in which the runner does things, and how it ends when something fails.
#include "workloads/backend/streams/stream_runner.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "workloads/backend/communicator/thread_group.hpp"
#include "workloads/program/builder.hpp"
#include "workloads/program/layers.hpp"

namespace gpusizer {
namespace {

// Writes down what happens; a task is finished when it was asked often enough.
class Diary final : public StepWork {
 public:
  Diary(size_t operations, int questions) {
    for (size_t i = 0; i < operations; ++i)
      tasks_.push_back(std::make_unique<Task>(*this, static_cast<int32_t>(i), questions));
  }
  void compute(int32_t operation) override {
    if (operation == failing_) throw std::runtime_error("this one cannot be computed");
    note(operation);
  }
  CommunicationTask& task(int32_t operation) override { return *tasks_[static_cast<size_t>(operation)]; }
  void fail_at(int32_t operation) { failing_ = operation; }

  std::vector<int32_t> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_, {});
  }

 private:
  struct Task final : CommunicationTask {
    Task(Diary& of, int32_t which, int asked) : diary(of), operation(which), questions(asked) {}
    void start() override { left = questions; }
    bool advance() override {
      if (operation == diary.failing_) throw std::runtime_error("this one cannot be sent");
      if (left-- > 0) return false;
      diary.note(operation);
      return true;
    }
    Diary& diary;
    int32_t operation;
    int questions, left = 0;
  };
  void note(int32_t operation) {
    const std::lock_guard lock(mutex_);
    finished_.push_back(operation);
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<int32_t> finished_;
  std::atomic<int32_t> failing_ = -1;
};

// Layers whose results are summed and read two layers later, and one message each way at every layer.
Program busy_program(int layers) {
  ProgramBuilder b("busy", 1);
  TensorId x = b.input("x", {4}), last_sum = x;
  for (int i = 0; i < layers; ++i) {
    const std::string name = fmt::format("l{}", i);
    x = add(b, name, x, last_sum);
    b.apply(OpKind::send, name + ".send", {x}, MessageAttributes{1, {}}, Phase::communicate);
    const TensorId sum =
        b.apply(OpKind::all_reduce, name + ".sum", {x}, CollectiveAttributes{0, {0, 1}, {}}, Phase::communicate)[0];
    MessageAttributes from{1, {{name + ".got", {4}, DType::f32, Role::activation}}};
    const TensorId got = b.apply(OpKind::receive, name + ".receive", {}, from, Phase::communicate)[0];
    x = relu(b, name + ".relu", i % 2 == 0 ? x : got);
    last_sum = sum;
  }
  return b.finish();
}

struct Runner {
  ThreadGroup group{1, 100};
  std::unique_ptr<Communicator> communicator = group.join(0);
  Program program = busy_program(12);
  StreamPlan plan = stream_plan(program);
  std::unique_ptr<StreamRunner> runner = std::make_unique<StreamRunner>(*communicator);

  std::string error(Diary& diary) {
    try {
      runner->run(plan, diary);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  }
};

TEST(StreamRunner, EverythingHappensOnceAndInOrder) {
  Runner r;
  const HappensBefore order{r.program, streams_of(r.program)};
  for (const int questions : {0, 1, 5}) {
    Diary diary(r.program.operations.size(), questions);
    for (int step = 0; step < 20; ++step) {
      EXPECT_GE(r.runner->run(r.plan, diary), 0);
      const auto finished = diary.take();
      ASSERT_EQ(finished.size(), r.program.operations.size());
      StreamCounts done{};
      for (const int32_t op : finished) {
        const auto stream = static_cast<size_t>(order.stream(op));
        EXPECT_EQ(order.number(op), done[stream]++);
        for (size_t s = 0; s < order.stream_count(); ++s) EXPECT_GE(done[s], order.done_before(op, s)) << op;
      }
    }
  }
}

TEST(StreamRunner, SaysHowLongCommunicationWasUnderWay) {
  Runner r;
  Diary diary(r.program.operations.size(), 3);
  std::vector<double> seconds(r.program.operations.size(), 0);
  r.runner->run(r.plan, diary, seconds);
  for (size_t i = 0; i < seconds.size(); ++i)
    EXPECT_EQ(seconds[i] > 0, stream_of(r.program.operations[i].kind) != compute_stream) << i;
}

TEST(StreamRunner, AnErrorOnEitherThreadEndsTheRunAndEveryOther) {
  for (const OpKind kind : {OpKind::relu, OpKind::all_reduce, OpKind::send, OpKind::receive}) {
    Runner r;
    Diary diary(r.program.operations.size(), 1);
    EXPECT_EQ(r.error(diary), "");
    const auto is_kind = [&](const Operation& op) { return op.kind == kind; };
    const auto first = std::ranges::find_if(r.program.operations, is_kind);
    diary.fail_at(static_cast<int32_t>(first - r.program.operations.begin()));
    const std::string text = r.error(diary);
    EXPECT_NE(text.find("this one cannot be"), std::string::npos) << text;
    diary.fail_at(-1);
    EXPECT_EQ(r.error(diary), text) << "nothing moves any more";
    EXPECT_NE(r.group.failure().find(text), std::string::npos) << "the other ranks hear of it: " << r.group.failure();
  }
}

TEST(StreamRunner, EndsWithoutARun) {
  for (int i = 0; i < 50; ++i) Runner{};
}

}  // namespace
}  // namespace gpusizer
