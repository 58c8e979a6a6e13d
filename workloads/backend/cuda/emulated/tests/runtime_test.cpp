// SPDX-License-Identifier: Apache-2.0
// Tests of the emulated runtime: memory and its limit, copies, streams, events, devices and planted failures.
#include <cstdlib>
#include <thread>

#include "workloads/backend/cuda/emulated/tests/device_buffer.hpp"
#include "workloads/backend/cuda/emulated/tests/kernels.hpp"

namespace gpusizer::emulated {
namespace {

using Runtime = OnEmulatedDevice;

TEST_F(Runtime, LimitsTheMemoryOfEachDevice) {
  configure({.devices = 2, .memory_bytes = 1000});
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(cudaMalloc(&first, 600), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 401), cudaErrorMemoryAllocation);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // it is no error that stays
  size_t free_bytes = 0, total_bytes = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  EXPECT_EQ(free_bytes, 400u);
  EXPECT_EQ(total_bytes, 1000u);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&second, 1000), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaFree(first), cudaErrorInvalidValue);  // twice
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Runtime, StagesPageableMemoryAndReadsPinnedMemoryLate) {
  const DeviceFloats x(1), y(1);
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  float pageable = 1, *pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&pinned), 4), cudaSuccess);
  *pinned = 1;
  ASSERT_EQ(cudaMemcpyAsync(x.get(), &pageable, 4, cudaMemcpyHostToDevice, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(y.get(), pinned, 4, cudaMemcpyHostToDevice, stream), cudaSuccess);
  pageable = 2;
  *pinned = 2;  // too early: a program that does so is wrong
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(x.values()[0], 1.0f);
  EXPECT_EQ(y.values()[0], 2.0f);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(Runtime, RefusesCopiesPastTheEndOrInTheWrongDirection) {
  const DeviceFloats x(2);
  float host[4];
  EXPECT_EQ(cudaMemcpy(x.get(), host, 12, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, x.get(), 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(x.get() + 1, 0, 8, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(Runtime, OrdersBlockingStreamsWithTheLegacyStream) {
  for (const Settings& settings : every_schedule()) {
    configure(settings);
    cudaStream_t blocking;
    ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
    {
      const DeviceFloats x(std::vector<float>(4, 1.0f)), y(std::vector<float>(4, 0.0f));
      EXPECT_EQ(add_scaled(y.get(), x.get(), 1, 4, blocking), cudaSuccess);
      EXPECT_EQ(add_scaled(x.get(), y.get(), 1, 4, nullptr), cudaSuccess);
      EXPECT_EQ(add_scaled(y.get(), x.get(), 1, 4, blocking), cudaSuccess);
      EXPECT_EQ(y.values()[0], 3.0f);
    }
    EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
  }
}

TEST_F(Runtime, DoesTheWorkOfDestroyedStreamsAndEvents) {
  const DeviceFloats x(std::vector<float>(4, 1.0f)), y(std::vector<float>(4, 0.0f));
  cudaStream_t stream;
  cudaEvent_t event;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(add_scaled(y.get(), x.get(), 1, 4, stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(y.values()[0], 1.0f);
}

TEST_F(Runtime, TellsTheTimeBetweenEvents) {
  const DeviceFloats x(std::vector<float>(1000, 1.0f));
  cudaEvent_t start, end, untimed;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  ASSERT_EQ(add_scaled(x.get(), x.get(), 1, 1000, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(end, nullptr), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  for (const cudaEvent_t event : {start, end, untimed}) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(Runtime, DescribesTheDeviceOfItsCapability) {
  configure({.devices = 1, .capability = 75});
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, "Tesla T4 (emulated)");
  EXPECT_EQ(properties.major * 10 + properties.minor, 75);
  char id[20];
  ASSERT_EQ(cudaDeviceGetPCIBusId(id, sizeof id, 0), cudaSuccess);
  EXPECT_STREQ(id, "0000:01:00.0");
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST_F(Runtime, RefusesAKernelOnAnotherDevicesStream) {
  configure({.devices = 2});
  const DeviceFloats x(4);
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(add_scaled(x.get(), x.get(), 1, 4, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(Runtime, FailsOnThePlannedCall) {
  void* at = nullptr;
  fail_on_call("cudaMalloc", 2, cudaErrorMemoryAllocation);
  ASSERT_EQ(cudaMalloc(&at, 4), cudaSuccess);
  EXPECT_EQ(cudaFree(at), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&at, 4), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(calls_of("cudaMalloc"), 2);
}

TEST_F(Runtime, HasNoDeviceWhereThereIsNone) {
  configure({.devices = 0});
  int count = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoDevice);
}

TEST_F(Runtime, RunsKernelsOfSeveralThreadsAndDevices) {
  configure({.devices = 4, .schedule = Schedule::random});
  std::vector<std::thread> threads;
  for (int device = 0; device < 4; ++device)
    threads.emplace_back([device] {
      EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
      const DeviceFloats x(std::vector<float>(300, static_cast<float>(device))), sums(3);
      for (int i = 0; i < 5; ++i) EXPECT_EQ(sum_rows(sums.get(), x.get(), 3, 100, nullptr), cudaSuccess);
      EXPECT_EQ(sums.values()[2], 100.0f * static_cast<float>(device));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(RuntimeDeathTest, EndsAStrictProgramThatLetAnErrorPass) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, whose machine is new
  setenv("GPUSIZER_EMU_STRICT", "1", 1);
  EXPECT_EXIT(
      {
        cudaMalloc(nullptr, 4);
        std::exit(0);
      },
      testing::ExitedWithCode(99), "nobody asked about an error: cudaMalloc returned cudaErrorInvalidValue");
  unsetenv("GPUSIZER_EMU_STRICT");
}

}  // namespace
}  // namespace gpusizer::emulated
