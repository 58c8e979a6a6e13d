// SPDX-License-Identifier: Apache-2.0
// What the tests of the emulated device share: buffers on the device, a fresh machine for each test, every schedule.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "workloads/backend/cuda/emulated/control.hpp"

namespace gpusizer::emulated {

// A buffer on the current device, filled from `values`; freed at the end. Every status is checked.
class DeviceFloats {
 public:
  explicit DeviceFloats(const std::vector<float>& values);
  explicit DeviceFloats(size_t count);
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;
  ~DeviceFloats();

  float* get() const { return at_; }
  size_t size() const { return count_; }
  std::vector<float> values() const;  // after everything that the device has to do

 private:
  float* at_ = nullptr;
  size_t count_ = 0;
};

// Each test starts with a machine of its own and ends with no error that nobody asked about and no memory left.
class OnEmulatedDevice : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  // The test planted a fault: what it leaves behind is expected.
  void expect_broken() { broken_ = true; }

 private:
  bool broken_ = false;
};

// One schedule and seed for each place where order matters.
std::vector<Settings> every_schedule();

}  // namespace gpusizer::emulated
