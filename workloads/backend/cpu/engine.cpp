// SPDX-License-Identifier: Apache-2.0
// Matches our vector kernels to the instruction set that oneDNN uses: both must lay images out alike.
#include <dnnl.hpp>

#include "workloads/backend/cpu/kernel.hpp"

namespace gpusizer::cpu {

namespace {

[[maybe_unused]] bool onednn_uses(dnnl::cpu_isa wanted) {
  const int effective = static_cast<int>(dnnl::get_effective_cpu_isa()), bits = static_cast<int>(wanted);
  return (effective & bits) == bits;
}

}  // namespace

const VectorKernels& matching_vector_kernels() {
#ifdef __x86_64__
  const VectorKernels& best = best_vector_kernels();
  if (best.lanes == 16 && onednn_uses(dnnl::cpu_isa::avx512_core)) return best;
  if (best.lanes == 16 || &best == &vector_kernels_avx2)
    return onednn_uses(dnnl::cpu_isa::avx2) ? vector_kernels_avx2 : vector_kernels_baseline;
#endif
  return vector_kernels_baseline;
}

}  // namespace gpusizer::cpu
