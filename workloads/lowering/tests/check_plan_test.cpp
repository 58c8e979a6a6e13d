// SPDX-License-Identifier: Apache-2.0
// The checker of memory plans finds every planted fault, and names who is in whose way.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "workloads/lowering/memory_plan.hpp"
#include "workloads/lowering/plain_target.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

// A small training step with workspaces, and a sound plan of it.
struct Planned {
  std::vector<LoweredProgram> programs;
  MemoryPlan plan;

  Placement& tensor(std::string_view name) {
    return plan.programs[0].tensors[static_cast<size_t>(programs[0].program.find(name)->id.index)];
  }
  std::string faults() const {
    std::string lines;
    for (const std::string& fault : check_plan(programs, plan)) lines += fault + "\n";
    return lines;
  }
};

Planned planned() {
  ProgramBuilder b{"small", 2};
  const TensorId images = b.input("images", {2, 3, 8, 8}), labels = b.input("labels", {2}, DType::i32);
  TensorId x = relu(b, "relu", batch_norm(b, "bn", conv2d(b, "conv", images, {.channels = 4, .kernel = 3}), true));
  classification_loss(b, linear(b, "fc", flatten(b, "flatten", x), 5), labels);
  Target target = plain_target();
  target.operation_storage = [plain = target.operation_storage](const Program& p, const Operation& op) {
    OperationStorage storage = plain(p, op);
    storage.workspace_bytes = 256;
    return storage;
  };
  std::vector<LoweredProgram> programs{lower(training_program(b.finish(), {}), target)};
  MemoryPlan plan = plan_memory(programs);
  return {std::move(programs), std::move(plan)};
}

// Whether one of the faults has all the parts.
void expect_names(const std::string& faults, const std::vector<std::string>& parts) {
  std::istringstream lines{faults};
  for (std::string line; std::getline(lines, line);)
    if (std::ranges::all_of(parts, [&](const std::string& part) { return line.find(part) != std::string::npos; })) return;
  ADD_FAILURE() << "no fault names " << parts[0] << " in:\n" << faults;
}

TEST(CheckPlan, ASoundPlanHasNoFaults) { EXPECT_EQ(planned().faults(), ""); }

TEST(CheckPlan, FindsTwoTensorsInOnePlace) {
  Planned p = planned();
  p.tensor("relu").offset = p.tensor("conv").offset;  // the batch norm's backward still reads conv
  expect_names(p.faults(), {"'relu' overlaps 'conv'", "batch_norm"});
}

TEST(CheckPlan, FindsAPartialOverlap) {
  Planned p = planned();
  p.tensor("relu").offset = p.tensor("conv").offset + p.tensor("conv").bytes - p.tensor("conv").bytes % 64 - 64;
  EXPECT_NE(p.faults(), "");
  expect_names(p.faults(), {"'conv'", "overlaps"});
}

TEST(CheckPlan, FindsATensorOverAPersistentOne) {
  Planned p = planned();
  p.tensor("conv").offset = p.tensor("fc.weight").offset;
  expect_names(p.faults(), {"'conv' overlaps 'fc.weight'"});
}

TEST(CheckPlan, FindsATensorOverOneThatOnlyAnotherProgramUses) {
  Planned p = planned();
  ProgramBuilder b{"other", 1};
  const TensorId x = b.input("x", {1, 16});
  linear(b, "head", x, 4);
  p.programs.push_back(lower(b.finish(), plain_target()));
  p.plan = plan_memory(p.programs);
  EXPECT_EQ(p.faults(), "");
  const TensorId head = p.programs[1].program.find("head.weight")->id;
  p.tensor("conv").offset = p.plan.programs[1].tensors[static_cast<size_t>(head.index)].offset;
  expect_names(p.faults(), {"'conv' overlaps 'head.weight'", "program 'small'"});
}

TEST(CheckPlan, FindsAResultThatIsOverwrittenBeforeTheEnd) {
  Planned p = planned();
  const std::string intruder = "conv:grad_weight";
  p.tensor("loss").offset = p.tensor(intruder).offset;
  expect_names(p.faults(), {"'conv:grad_weight' overlaps 'loss'", "the end of program 'small'"});
}

TEST(CheckPlan, FindsAWorkspaceOverAnInputOfItsOperation) {
  Planned p = planned();
  p.plan.programs[0].workspaces[0].offset = p.tensor("images").offset;
  expect_names(p.faults(), {"'workspace of conv2d conv' overlaps 'images'"});
}

TEST(CheckPlan, FindsAWorkspaceOverAResultOfItsOperation) {
  Planned p = planned();
  p.plan.programs[0].workspaces[0].offset = p.tensor("conv").offset;
  expect_names(p.faults(), {"'workspace of conv2d conv' overlaps 'conv'"});
}

TEST(CheckPlan, FindsWhatLiesOutside) {
  Planned p = planned();
  p.tensor("conv").offset = p.plan.peak_bytes() / 64 * 64;
  expect_names(p.faults(), {"'conv' of program 'small' lies outside the arena"});
  p = planned();
  p.tensor("conv").offset = -64;
  expect_names(p.faults(), {"'conv' of program 'small' lies outside the arena"});
  p = planned();
  p.plan.programs[0].workspaces[0].offset = p.plan.peak_bytes();
  expect_names(p.faults(), {"workspace of conv2d conv lies outside"});
}

TEST(CheckPlan, FindsWhatIsNotAligned) {
  Planned p = planned();
  p.tensor("relu").offset += 4;
  expect_names(p.faults(), {"'relu' of program 'small' is not aligned to 64"});
}

TEST(CheckPlan, FindsAWrongSize) {
  Planned p = planned();
  p.tensor("relu").bytes -= 4;
  expect_names(p.faults(), {"'relu' of program 'small' has", "and takes"});
}

TEST(CheckPlan, FindsAPersistentTensorInTwoPlaces) {
  Planned p = planned();
  p.programs.push_back(p.programs[0]);
  p.plan = plan_memory(p.programs);
  EXPECT_EQ(p.faults(), "");
  p.tensor("conv.weight").offset = p.tensor("fc.weight").offset;
  expect_names(p.faults(), {"'conv.weight' must lie in one place"});
}

TEST(CheckPlan, FindsAPlanOfAnotherProgram) {
  Planned p = planned();
  p.plan.programs[0].workspaces.pop_back();
  expect_names(p.faults(), {"does not fit program 'small'"});
  p.plan.programs.clear();
  expect_names(p.faults(), {"for 0 programs, not 1"});
}

// a is summed over two ranks while b is computed: b may not lie where a is still read, though it is later in the list.
TEST(CheckPlan, WhatGoesOnSideBySideMayNotShareMemory) {
  ProgramBuilder b{"side by side", 1};
  const TensorId x = b.input("x", {64});
  const TensorId a = relu(b, "a", x);
  const TensorId sum =
      b.apply(OpKind::all_reduce, "sum", {a}, CollectiveAttributes{0, {0, 1}, {}}, Phase::communicate)[0];
  const TensorId c = relu(b, "c", relu(b, "b", x));
  const TensorId after = relu(b, "after", sum);
  b.set_loss(add(b, "end", c, after));
  Planned p;
  p.programs = {lower(b.finish(), plain_target())};
  p.plan = plan_memory(p.programs);
  EXPECT_EQ(p.faults(), "");
  EXPECT_EQ(p.tensor("after").offset, p.tensor("a").offset) << "what waits for the sum comes after those who read a";
  p.tensor("b").offset = p.tensor("a").offset;
  expect_names(p.faults(), {"'b'", "'a'", "all_reduce"});
}

}  // namespace
}  // namespace gpusizer
