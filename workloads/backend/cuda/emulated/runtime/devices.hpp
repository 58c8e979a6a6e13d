// SPDX-License-Identifier: Apache-2.0
// What an emulated device says of itself, by compute capability: published figures of one product of each.
#pragma once

#include <cstddef>

namespace gpusizer::emulated {

struct DescribedDevice {
  int capability;
  const char* name;
  int processors;
  size_t shared_opt_in_bytes;
  size_t shared_per_processor_bytes;
  int reserved_shared_bytes;
  int blocks_per_processor;
  int threads_per_processor;
  size_t l2_bytes;
  int core_khz;
  int memory_khz;
  int memory_bus_bits;
};

// The device of the present settings; the nearest one below for a capability that the table lacks.
const DescribedDevice& described_device();

}  // namespace gpusizer::emulated
