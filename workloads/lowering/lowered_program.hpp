// SPDX-License-Identifier: Apache-2.0
// A program made ready for one kind of device: fused operations in running order, and the bytes each tensor takes there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// What one operation needs on a target beside its tensors' plain sizes.
struct OperationStorage {
  int64_t workspace_bytes = 0;  // scratch memory while it runs
  int64_t saved_bytes = 0;      // what it keeps for its backward (forward operations with a `saved` output)
};

// One line of a target's fusion table.
struct FusionRule {
  std::string_view name;         // "batch_norm+add+relu"
  std::string_view description;  // one kernel each way, for people
  // Rewrites every place where the pattern stands and returns how many there were. The program stays a program.
  int (*apply)(Program& program);
};

// What lowering must know about a device; no device is needed to have one.
struct Target {
  std::string name;                     // "cpu", "reference", later "sm90"
  std::span<const FusionRule> fusions;  // tried in order
  bool early_updates = false;  // run each parameter update as soon as its gradient is there, so that gradients share memory
  // Element types whose rounding is exact here while the arithmetic and the storage are those of f32: they show what a
  // precision does to the training, not how fast it is.
  std::span<const DType> emulated_dtypes;
  // Bytes that a tensor (other than `saved`) takes in the target's layout, padding included.
  std::function<int64_t(const Tensor&)> tensor_bytes;
  // Bytes of one operation of the fused program beside its tensors.
  std::function<OperationStorage(const Program&, const Operation&)> operation_storage;
};

struct LoweredProgram {
  std::string target;
  Program program;                       // fused and scheduled
  std::vector<int64_t> tensor_bytes;     // by tensor; 0 for tensors that no operation touches any more
  std::vector<int64_t> workspace_bytes;  // by operation
};

// The target's form of a program. Pure: same program and target, same result.
LoweredProgram lower(const Program& program, const Target& target);

}  // namespace gpusizer
