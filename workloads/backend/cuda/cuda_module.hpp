// SPDX-License-Identifier: Apache-2.0
// What the program and the module with the CUDA backend say to each other: a name to look up, and a check that both were
// built together, since C++ objects go from one to the other.
#pragma once

#include <cstdint>
#include <cstring>

#include "workloads/backend/backend.hpp"

namespace gpusizer::cuda {

// What must be the same on both sides. Sizes tell whether both know the same declarations.
struct BuildMark {
  uint32_t version = 1;  // of this file's contract
  char compiler[64] = {};
  uint32_t sizes[8] = {};

  bool operator==(const BuildMark& other) const { return std::memcmp(this, &other, sizeof other) == 0; }
};

inline BuildMark build_mark() {
  BuildMark mark;
  std::strncpy(mark.compiler, __VERSION__, sizeof mark.compiler - 1);
  const size_t sizes[] = {sizeof(LoweredProgram), sizeof(Program), sizeof(Operation), sizeof(Tensor),
                          sizeof(Target),         sizeof(Device),  sizeof(StepResult), sizeof(Probe)};
  for (size_t i = 0; i < std::size(sizes); ++i) mark.sizes[i] = static_cast<uint32_t>(sizes[i]);
  return mark;
}

struct CudaModule {
  BuildMark mark;
  // Belongs to the module and lives as long as it does.
  const Backend* (*backend)();
};

inline constexpr const char* cuda_module_symbol = "gpusizer_cuda_module";

}  // namespace gpusizer::cuda

// The module's only symbol.
extern "C" __attribute__((visibility("default"))) const gpusizer::cuda::CudaModule* gpusizer_cuda_module();
