// SPDX-License-Identifier: Apache-2.0
// Chooses among the instruction sets that the vector kernels were compiled for.
#include "workloads/backend/cpu/vector/vector_kernels.hpp"

namespace gpusizer::cpu {

const VectorKernels& best_vector_kernels() {
#ifdef __x86_64__
  // The same conditions as oneDNN's for its 16-channel and 8-channel kernels.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return vector_kernels_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return vector_kernels_avx2;
#endif
  return vector_kernels_baseline;
}

}  // namespace gpusizer::cpu
