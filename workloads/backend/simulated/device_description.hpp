// SPDX-License-Identifier: Apache-2.0
// A device that is not here, and the links between several of them: all that the simulation knows.
#pragma once

#include <cstdint>
#include <string>

namespace gpusizer::simulated {

// What share of its peak a kind of operation reaches.
struct Efficiencies {
  double linear = 0.7;     // fully connected layers, LSTMs: of the peak of their precision
  double convolution = 0.5;
  double attention = 0.35;
  double memory = 0.8;     // of the bandwidth, for everything that is bound by it
};

// Ring and tree terms of collectives: latency of a message, and bytes per second in the convention of bus bandwidth.
struct LinkDescription {
  double latency_seconds = 0;
  double bytes_per_second = 0;
};

struct DeviceDescription {
  std::string name;
  double fp32_flops = 0;               // per second, dense, without tensor cores
  double tf32_flops = 0, half_flops = 0;  // of tensor cores where there are some, else fp32_flops
  double memory_bytes_per_second = 0;
  std::int64_t memory_bytes = 0;
  double launch_seconds = 4e-6;        // that a kernel takes beside its work: launching, filling and draining the device
  Efficiencies efficiency;
  LinkDescription inside, across;      // between devices of a node; between nodes, all network cards of a node together
  std::int64_t devices_per_node = 8;
};

}  // namespace gpusizer::simulated
