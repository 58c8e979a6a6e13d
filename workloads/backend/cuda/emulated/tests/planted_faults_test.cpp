// SPDX-License-Identifier: Apache-2.0
// Tests that faults which a GPU would suffer in silence are found: each is planted and must be named.
#include <string>
#include <vector>

#include "workloads/backend/cuda/emulated/runtime/task.hpp"
#include "workloads/backend/cuda/emulated/tests/device_buffer.hpp"
#include "workloads/backend/cuda/emulated/tests/kernels.hpp"

namespace gpusizer::emulated {
namespace {

// What a sanitizer finds first ends the process.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool address_sanitizer = true;
#else
constexpr bool address_sanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__)
constexpr bool thread_sanitizer = true;
#else
constexpr bool thread_sanitizer = false;
#endif

class PlantedFaults : public OnEmulatedDevice {
 protected:
  void SetUp() override { expect_broken(); }

  // The message of the fault that `fault` leaves.
  std::string message_of(Planted fault, ThreadOrder order = ThreadOrder::forward) {
    configure({.thread_order = order});
    {
      const DeviceFloats x(64);
      EXPECT_EQ(run_planted(fault, x.get(), 64, nullptr), cudaSuccess);
      EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
    }
    const std::string message = fault_message();
    clear_errors();
    return message;
  }
};

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(PlantedFaults, AWritePastABuffer) {
  if (address_sanitizer) GTEST_SKIP() << "the address sanitizer ends the process at the write";
  expect_contains(message_of(Planted::write_past_buffer), "writes past a buffer of 256 bytes");
}

TEST_F(PlantedFaults, AWriteIntoTheGapBetweenTwoBuffersOfAnArena) {
  if (address_sanitizer) GTEST_SKIP() << "the address sanitizer ends the process at the write";
  configure({});
  {
    const DeviceFloats arena(64 + 8);
    guard(arena.get() + 64, 32);
    EXPECT_EQ(run_planted(Planted::write_past_buffer, arena.get(), 64, nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  }
  expect_contains(fault_message(), "writes past a buffer that ends at byte 256 of 288 bytes");
}

TEST_F(PlantedFaults, AWritePastDynamicSharedMemory) {
  if (address_sanitizer) GTEST_SKIP() << "the address sanitizer ends the process at the write";
  expect_contains(message_of(Planted::write_past_dynamic_shared), "past its dynamic shared memory");
}

TEST_F(PlantedFaults, AMissingSyncthreads) {
  if (thread_sanitizer) GTEST_SKIP() << "the thread sanitizer reports the race";
  expect_contains(message_of(Planted::missing_sync, ThreadOrder::both), "depends on the order of its threads");
}

TEST_F(PlantedFaults, TwoThreadsThatWriteOneElement) {
  if (thread_sanitizer) GTEST_SKIP() << "the thread sanitizer reports the race";
  expect_contains(message_of(Planted::race_between_threads, ThreadOrder::both), "depends on the order of its threads");
}

TEST_F(PlantedFaults, ThreadsAtDifferentBarriers) {
  expect_contains(message_of(Planted::divergent_sync), "meet at different __syncthreads()");
}

TEST_F(PlantedFaults, AShuffleWithoutHalfTheWarp) {
  expect_contains(message_of(Planted::shuffle_without_half_the_warp), "16 in a warp operation at");
}

TEST_F(PlantedFaults, AReturnBeforeASyncOfTheWarp) {
  expect_contains(message_of(Planted::return_before_sync_of_warp), "29 have ended");
}

TEST_F(PlantedFaults, AShuffleFromOutsideTheMask) {
  expect_contains(message_of(Planted::shuffle_from_outside_the_mask), "reads lane 20, which its mask leaves out");
}

TEST_F(PlantedFaults, AHostPointerOrAnotherDevicesPointer) {
  configure({.devices = 2});
  float host = 0;
  {
    const DeviceFloats x(8);
    EXPECT_EQ(add_scaled(x.get(), &host, 1, 1, nullptr), cudaErrorIllegalAddress);
    expect_contains(fault_message(), "pointer argument 2 is not device memory");
    clear_errors();
    EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
    EXPECT_EQ(add_scaled(x.get(), nullptr, 1, 0, nullptr), cudaErrorInvalidConfiguration);
    EXPECT_EQ(add_scaled(x.get(), nullptr, 1, 1, nullptr), cudaErrorIllegalAddress);
    expect_contains(fault_message(), "pointer argument 1 belongs to device 0");
    clear_errors();
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  }
}

// y = x + x, where the copy that fills x runs on another stream: right only with the event.
float sum_across_streams(const Settings& settings, bool wait) {
  configure(settings);
  cudaStream_t copies, compute;
  cudaEvent_t copied;
  EXPECT_EQ(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming), cudaSuccess);
  float result = 0;
  {
    const std::vector<float> ones(256, 1.0f);
    const DeviceFloats x(256), y(std::vector<float>(256, 1.0f));
    EXPECT_EQ(cudaMemcpyAsync(x.get(), ones.data(), 1024, cudaMemcpyHostToDevice, copies), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(copied, copies), cudaSuccess);
    EXPECT_EQ(wait ? cudaStreamWaitEvent(compute, copied, 0) : cudaSuccess, cudaSuccess);
    EXPECT_EQ(add_scaled(y.get(), x.get(), 1, 256, compute), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(compute), cudaSuccess);
    result = y.values()[255];
  }
  EXPECT_EQ(cudaEventDestroy(copied), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(copies), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(compute), cudaSuccess);
  return result;
}

TEST_F(PlantedFaults, AMissingWaitForAnEvent) {
  int wrong = 0;
  for (const Settings& settings : every_schedule()) {
    EXPECT_EQ(sum_across_streams(settings, true), 2.0f);
    const bool noticed = sum_across_streams(settings, false) != 2.0f;  // memory that nobody filled is NaN
    EXPECT_TRUE(noticed || settings.schedule != Schedule::lazy);
    wrong += noticed;
  }
  EXPECT_GE(wrong, 2) << "the random schedule should find it with some seed too";
}

TEST_F(PlantedFaults, AnErrorThatNobodyAskedAbout) {
  configure({});
  fail_on_call("cudaMemsetAsync", 2, cudaErrorLaunchFailure);
  const DeviceFloats x(4);
  EXPECT_EQ(cudaMemsetAsync(x.get(), 0, 4, nullptr), cudaSuccess);
  cudaMemsetAsync(x.get(), 0, 4, nullptr);
  EXPECT_EQ(cudaMemsetAsync(x.get(), 0, 4, nullptr), cudaSuccess);
  EXPECT_EQ(unasked_errors(), std::vector<std::string>{"cudaMemsetAsync returned cudaErrorLaunchFailure"});
  EXPECT_STREQ(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure");
  EXPECT_EQ(unasked_errors(), std::vector<std::string>{});
}

TEST_F(PlantedFaults, ADeviceThatIsLost) {
  configure({.devices = 2});
  break_device(1, cudaErrorECCUncorrectable, "memory failed");
  float* x = nullptr;
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&x), 4), cudaSuccess);
  EXPECT_EQ(cudaFree(x), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&x), 4), cudaErrorECCUncorrectable);
  clear_errors();
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

// A task of a library whose peers never come, as in a collective without one rank.
TEST_F(PlantedFaults, WorkThatNeverGetsReady) {
  configure({.stall_seconds = 0.05});
  EXPECT_EQ(enqueue("a test", nullptr, [] { return Task{"the meeting", [] { return false; }}; }), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  expect_contains(fault_message(), "a stream of device 0 waits in the meeting");
}

}  // namespace
}  // namespace gpusizer::emulated
