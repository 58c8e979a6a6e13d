// SPDX-License-Identifier: Apache-2.0
// Buffers and fresh machines for the tests of the emulated device.
#include "workloads/backend/cuda/emulated/tests/device_buffer.hpp"

namespace gpusizer::emulated {

DeviceFloats::DeviceFloats(size_t count) : count_(count) {
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&at_), count * sizeof(float)), cudaSuccess);
}

DeviceFloats::DeviceFloats(const std::vector<float>& values) : DeviceFloats(values.size()) {
  EXPECT_EQ(cudaMemcpy(at_, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
}

DeviceFloats::~DeviceFloats() {
  if (cudaFree(at_) != cudaSuccess) cudaGetLastError();
}

std::vector<float> DeviceFloats::values() const {
  std::vector<float> values(count_);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(values.data(), at_, count_ * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
  return values;
}

void OnEmulatedDevice::SetUp() { configure({}); }

void OnEmulatedDevice::TearDown() {
  if (!broken_) {
    EXPECT_EQ(fault_message(), "");
    EXPECT_EQ(unasked_errors(), std::vector<std::string>{});
    for (int device = 0; device < current_settings().devices; ++device) EXPECT_EQ(used_bytes(device), 0u);
  }
  configure({});
}

std::vector<Settings> every_schedule() {
  std::vector<Settings> all;
  for (const Schedule schedule : {Schedule::eager, Schedule::lazy}) all.push_back({.schedule = schedule});
  for (uint32_t seed = 1; seed <= 4; ++seed) all.push_back({.schedule = Schedule::random, .seed = seed});
  return all;
}

}  // namespace gpusizer::emulated
