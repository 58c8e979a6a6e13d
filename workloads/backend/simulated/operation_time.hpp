// SPDX-License-Identifier: Apache-2.0
// How long one operation of a lowered program keeps a device busy.
#pragma once

#include "workloads/backend/simulated/device_description.hpp"
#include "workloads/lowering/lowered_program.hpp"

namespace gpusizer::simulated {

struct OperationTime {
  double compute_seconds = 0;  // FLOPs / (peak * efficiency)
  double memory_seconds = 0;   // bytes / (bandwidth * efficiency)
  double launch_seconds = 0;
  double floor_seconds = 0;    // the larger of FLOPs / peak and bytes / bandwidth: nothing can be faster

  double seconds() const { return (compute_seconds > memory_seconds ? compute_seconds : memory_seconds) + launch_seconds; }
};

// Of operations that compute; those that communicate take no time here. Operations that only give a shape another name
// take none either.
OperationTime operation_time(const LoweredProgram& lowered, const Operation& op, const DeviceDescription& device);

// Bytes that an operation reads and writes, in the target's layout.
double moved_bytes(const LoweredProgram& lowered, const Operation& op);

// A GPU as lowering sees it: every fusion, plain layouts, no emulated precision.
Target simulated_target();

}  // namespace gpusizer::simulated
