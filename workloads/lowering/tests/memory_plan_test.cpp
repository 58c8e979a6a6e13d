// SPDX-License-Identifier: Apache-2.0
// The memory plan: sound, tight, shared by several programs; and the order of operations that it rests on.
#include "workloads/lowering/memory_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/lowering/lifetimes.hpp"
#include "workloads/lowering/plain_target.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

Program training(const char* model, int64_t batch) {
  return training_program(build_model(find_model(model), {}, batch, Mode::train), {});
}

TEST(MemoryPlan, IsCloseToTheBytesThatAreAliveAtOnce) {
  for (const char* model : {"resnet50", "resnet18", "resnet8", "alexnet"})
    for (const bool early : {false, true}) {
      const std::vector<LoweredProgram> programs{lower(training(model, 16), plain_target(early))};
      const MemoryPlan plan = plan_memory(programs);
      const int64_t bound = std::ranges::max(live_bytes(programs[0]));
      EXPECT_GE(plan.transient_bytes, bound);
      EXPECT_LE(static_cast<double>(plan.transient_bytes), 1.05 * static_cast<double>(bound)) << model << early;
    }
}

}  // namespace
}  // namespace gpusizer
