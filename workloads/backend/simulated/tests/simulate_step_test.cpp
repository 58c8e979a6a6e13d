// SPDX-License-Identifier: Apache-2.0
// A step of one device is the sum of its operations, never below the roofline, and its trace is complete.
#include "workloads/backend/simulated/simulate_step.hpp"

#include <gtest/gtest.h>

#include "workloads/backend/simulated/operation_time.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/autodiff.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer::simulated {
namespace {

DeviceDescription toy_device() {
  DeviceDescription device;
  device.name = "toy";
  device.fp32_flops = device.tf32_flops = device.half_flops = 10e12;
  device.memory_bytes_per_second = 500e9;
  device.memory_bytes = std::int64_t{16} << 30;
  device.inside = {5e-6, 20e9}, device.across = {20e-6, 5e9};
  return device;
}

LoweredProgram small_step() {
  const ModelEntry& model = find_model("resnet8");
  Differentiated step = differentiate(build_model(model, with_defaults(model, {}), 16, Mode::train));
  return lower(add_optimizer(std::move(step.program), step.gradients, {}), simulated_target());
}

TEST(SimulateStep, OneDeviceComputesOneOperationAfterTheOther) {
  const LoweredProgram step = small_step();
  const DeviceDescription device = toy_device();
  const Role role{0, &step};
  const SimulatedStep result = simulate_step({&role, 1}, {}, device);
  double sum = 0, floor = 0;
  for (const Operation& op : step.program.operations) {
    const OperationTime time = operation_time(step, op, device);
    EXPECT_GE(time.seconds(), time.floor_seconds);
    sum += time.seconds(), floor += time.floor_seconds;
  }
  EXPECT_NEAR(result.seconds, sum, 1e-12);
  EXPECT_NEAR(result.floor_seconds, floor, 1e-12);
  EXPECT_NEAR(result.exposed_seconds, 0, 1e-12);
  EXPECT_EQ(result.spans.size(), step.program.operations.size());
}

TEST(SimulateStep, AFasterDeviceIsFaster) {
  const LoweredProgram step = small_step();
  const Role role{0, &step};
  DeviceDescription device = toy_device();
  const double before = simulate_step({&role, 1}, {}, device).seconds;
  device.memory_bytes_per_second *= 2;
  EXPECT_LT(simulate_step({&role, 1}, {}, device).seconds, before);
}

TEST(SimulateStep, AReceiveWithoutASenderIsAnErrorNotAHang) {
  LoweredProgram step = small_step();
  Operation receive{OpKind::receive, "nobody", {}, {}, MessageAttributes{.peer = 7}, Phase::forward};
  step.program.operations.push_back(receive);
  const Role role{0, &step};
  EXPECT_ANY_THROW(simulate_step({&role, 1}, {}, toy_device()));
}

TEST(ChromeTrace, EveryOperationIsAnEventAndNamesAreEscaped) {
  LoweredProgram step = small_step();
  step.program.operations.front().layer = "a\"b\\\n";
  const Role role{0, &step};
  const SimulatedStep result = simulate_step({&role, 1}, {}, toy_device());
  const std::string trace = chrome_trace({&role, 1}, result, "toy");
  std::size_t events = 0;
  for (auto at = trace.find("\"ph\": \"X\""); at != std::string::npos; at = trace.find("\"ph\": \"X\"", at + 1)) ++events;
  EXPECT_EQ(events, result.spans.size());
  EXPECT_NE(trace.find("a\\\"b\\\\\\u000a"), std::string::npos);
  EXPECT_NE(trace.find("\"provenance\": \"predicted\""), std::string::npos);
}

}  // namespace
}  // namespace gpusizer::simulated
