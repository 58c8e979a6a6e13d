// SPDX-License-Identifier: Apache-2.0
// The memory plan: sound, tight, shared by several programs; and the order of operations that it rests on.
#include "workloads/lowering/memory_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "gpusizer/error.hpp"
#include "workloads/lowering/lifetimes.hpp"
#include "workloads/lowering/memory_summary.hpp"
#include "workloads/lowering/plain_target.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/operations.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

Program training(const char* model, int64_t batch) {
  return training_program(build_model(find_model(model), {}, batch, Mode::train), {});
}

Program evaluation(const char* model, int64_t batch) { return build_model(find_model(model), {}, batch, Mode::evaluate); }

// Plain sizes, and a workspace of 1000 bytes for every convolution and fully connected layer.
Target with_workspaces(Target target) {
  target.operation_storage = [plain = target.operation_storage](const Program& p, const Operation& op) {
    OperationStorage storage = plain(p, op);
    if (rule(op.kind).macs) storage.workspace_bytes = 1000;
    return storage;
  };
  return target;
}

int64_t bytes_of(const Program& p, const ProgramPlacement& placed, std::string_view name) {
  return placed.tensors[static_cast<size_t>(p.find(name)->id.index)].bytes;
}

TEST(MemoryPlan, IsSoundForEveryModel) {
  for (const ModelEntry& entry : models())
    for (const Target& target : {plain_target(true), plain_target(false), plain_unfused_target()}) {
      const std::string name{entry.name};
      const std::vector<LoweredProgram> programs{lower(training(name.c_str(), 4), with_workspaces(target)),
                                                 lower(training(name.c_str(), 3), with_workspaces(target)),
                                                 lower(evaluation(name.c_str(), 8), with_workspaces(target))};
      const auto faults = check_plan(programs, plan_memory(programs));
      EXPECT_TRUE(faults.empty()) << name << " " << target.name << ": " << faults[0];
    }
}

TEST(MemoryPlan, IsCloseToTheBytesThatAreAliveAtOnce) {
  for (const char* model : {"resnet50", "resnet18", "resnet8", "alexnet"})
    for (const Target& target : {plain_target(true), plain_target(false), plain_unfused_target()}) {
      const std::vector<LoweredProgram> programs{lower(training(model, 16), with_workspaces(target))};
      const MemoryPlan plan = plan_memory(programs);
      const int64_t bound = std::ranges::max(live_bytes(programs[0]));
      EXPECT_GE(plan.transient_bytes, bound);
      EXPECT_LE(static_cast<double>(plan.transient_bytes), 1.05 * static_cast<double>(bound)) << model << target.name;
    }
}

TEST(MemoryPlan, ProgramsShareWhatPersistsAndUseTheRestInTurn) {
  const std::vector<LoweredProgram> programs{lower(training("resnet8", 16), plain_target()),
                                             lower(evaluation("resnet8", 16), plain_target())};
  const MemoryPlan both = plan_memory(programs), first = plan_memory({programs.data(), 1});
  EXPECT_EQ(both.persistent_bytes, first.persistent_bytes);
  EXPECT_EQ(both.transient_bytes, first.transient_bytes) << "evaluation needs less than training";
  for (const Tensor& t : programs[1].program.tensors) {
    if (!is_persistent(t.role)) continue;
    const Tensor* twin = programs[0].program.find(t.name);
    EXPECT_EQ(both.programs[0].tensors[static_cast<size_t>(twin->id.index)].offset,
              both.programs[1].tensors[static_cast<size_t>(t.id.index)].offset) << t.name;
  }
}

// Operations of any kind in any order; with `ranks` there are some that go on side by side with the others.
Program random_program(std::mt19937& random, bool ranks) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  ProgramBuilder b{"random", 1};
  std::vector<TensorId> known{b.input("x", {4}), b.input("y", {4}), b.persistent("w", {4}, Role::parameter, {})};
  const size_t count = 5 + below(30);
  for (size_t i = 0; i < count; ++i) {
    const auto any = [&] { return known[below(known.size())]; };
    const std::string name = fmt::format("t{}", i);
    MessageAttributes message{1, {}};
    switch (below(ranks ? 6 : 2)) {
      case 0:
        known.push_back(relu(b, name, any()));
        break;
      case 1:
        known.push_back(add(b, name, any(), any()));
        break;
      case 2:
        b.apply(OpKind::send, name, {any()}, message, Phase::communicate);
        break;
      case 3:
        message.contents = {{name, {4}, DType::f32, Role::activation}};
        known.push_back(b.apply(OpKind::receive, name + ".receive", {}, message, Phase::communicate)[0]);
        break;
      default: {
        const auto sums =
            b.apply(OpKind::all_reduce, name, {any()}, CollectiveAttributes{0, {0, 1}, {}}, Phase::communicate);
        known.push_back(sums[0]);
      }
    }
  }
  Program p = b.finish();
  p.loss = known.back();
  return p;
}

// Programs whose tensors have any size and any lifetime: the plan is sound and never larger than all tensors together.
TEST(MemoryPlan, IsSoundForRandomPrograms) {
  std::mt19937 random{17};
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int round = 0; round < 400; ++round) {
    const Program p = random_program(random, round % 2 == 1);
    std::vector<LoweredProgram> programs{{.target = "random", .program = p}};
    int64_t total = 0;
    const auto size = [&] {
      const int64_t bytes = below(4) == 0 ? 0 : static_cast<int64_t>(below(5000));
      total += (bytes + 63) / 64 * 64;
      return bytes;
    };
    for (size_t i = 0; i < p.tensors.size(); ++i) programs[0].tensor_bytes.push_back(size());
    for (size_t i = 0; i < p.operations.size(); ++i) programs[0].workspace_bytes.push_back(size());
    const MemoryPlan plan = plan_memory(programs);
    const auto faults = check_plan(programs, plan);
    ASSERT_TRUE(faults.empty()) << round << ": " << faults[0];
    EXPECT_LE(plan.peak_bytes(), total);
    EXPECT_GE(plan.transient_bytes, std::ranges::max(live_bytes(programs[0])));
  }
}

TEST(MemoryPlan, RefusesPersistentTensorsOfTwoSizes) {
  ModelOptions ten{.classes = 10}, twenty{.classes = 20};
  const auto program = [](const ModelOptions& o) {
    return lower(build_model(find_model("resnet8"), o, 2, Mode::evaluate), plain_target());
  };
  const std::vector<LoweredProgram> programs{program(ten), program(twenty)};
  try {
    plan_memory(programs);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::usage);
    EXPECT_NE(std::string(e.what()).find("'fc.weight' takes"), std::string::npos) << e.what();
  }
}

TEST(MemoryPlan, NothingOfAnEmptySet) {
  EXPECT_EQ(plan_memory({}).peak_bytes(), 0);
  EXPECT_TRUE(check_plan({}, MemoryPlan{}).empty());
}

TEST(MemoryPlan, EvaluationKeepsNothingForABackward) {
  const std::vector<LoweredProgram> programs{lower(evaluation("resnet8", 4), plain_unfused_target())};
  const MemoryPlan plan = plan_memory(programs);
  EXPECT_EQ(bytes_of(programs[0].program, plan.programs[0], "relu:saved"), 0);
  EXPECT_EQ(bytes_of(programs[0].program, plan.programs[0], "relu"), 4 * element_count(programs[0].program.find("relu")->shape));
}

TEST(MemoryPlan, EarlyUpdatesLetGradientsShareMemory) {
  const auto peak = [](bool early) {
    const LoweredProgram lowered = lower(training("alexnet", 2), plain_target(early));
    return plan_memory({&lowered, 1}).transient_bytes;
  };
  EXPECT_LT(peak(true), peak(false) * 7 / 10);
}

TEST(MemorySummary, PartsAddUpToThePeak) {
  const LoweredProgram lowered = lower(training("resnet18", 4), with_workspaces(plain_target()));
  const MemorySummary s = memory_summary(lowered);
  EXPECT_EQ(s.parameter_bytes, 4 * 11'689'512);
  EXPECT_EQ(s.optimizer_state_bytes, 4 * 11'689'512);
  EXPECT_EQ(s.peak_bytes, plan_memory({&lowered, 1}).peak_bytes());
  EXPECT_GE(s.gap_bytes, 0);
  EXPECT_LT(s.gap_bytes, s.peak_bytes / 20);
  EXPECT_GT(s.activation_bytes, 0);
  EXPECT_GT(s.gradient_bytes, 0);
  EXPECT_GE(s.input_bytes, 4 * 4 * 3 * 224 * 224) << "the last backward operation still reads the images";
  EXPECT_FALSE(s.peak_name.empty());
}

// x -> a -> b and x -> c, where c may run beside b.
TEST(HappensBefore, OnlyWhatIsWaitedForIsCertain) {
  ProgramBuilder builder{"two streams", 1};
  const TensorId x = builder.input("x", {8});
  const TensorId a = relu(builder, "a", x), b = relu(builder, "b", a), c = relu(builder, "c", x);
  add(builder, "d", b, c);
  const Program p = builder.finish();
  const std::vector<int32_t> one{0, 0, 0, 0}, two{0, 0, 1, 1};
  const HappensBefore in_line{p, one}, beside{p, two};
  EXPECT_EQ(in_line.done_before(2, 0), 2) << "one stream: a and b are done when c starts";
  EXPECT_EQ(beside.done_before(2, 0), 0) << "two streams: nothing is known of a and b";
  EXPECT_EQ(beside.done_before(3, 0), 2) << "d reads b, so a and b are done";
  EXPECT_EQ(beside.done_before(3, 1), 1);
  LoweredProgram lowered{.program = p, .tensor_bytes = std::vector<int64_t>(p.tensors.size(), 32),
                         .workspace_bytes = std::vector<int64_t>(4, 0)};
  const auto block = [&](const HappensBefore& order, TensorId id) {
    const auto list = blocks(lowered, order);
    return *std::ranges::find(list, id.index, &Block::tensor);
  };
  EXPECT_TRUE(done_before(block(in_line, a), block(in_line, c), in_line));
  EXPECT_FALSE(done_before(block(beside, a), block(beside, c), beside)) << "b may still read a while c is written";
}

// Two streams that update the same parameter: the reader of the old value comes first.
TEST(HappensBefore, AnUpdateWaitsForTheReadersOfTheOldValue) {
  ProgramBuilder builder{"update", 2};
  const TensorId w = builder.persistent("w", {2, 2}, Role::parameter, {});
  const TensorId x = builder.input("x", {2, 2}), rate = builder.scalar("learning_rate", 0);
  builder.apply(OpKind::linear, "y", {x, w});
  builder.apply(OpKind::sgd, "w", {w, x, rate}, SgdAttributes{}, Phase::update);
  const Program p = builder.finish();
  const std::vector<int32_t> streams{0, 1};
  EXPECT_EQ((HappensBefore{p, streams}.done_before(1, 0)), 1);
}

}  // namespace
}  // namespace gpusizer
