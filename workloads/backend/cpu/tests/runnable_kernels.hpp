// SPDX-License-Identifier: Apache-2.0
// The tables of vector kernels that this machine can run, and made-up values for them.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "workloads/backend/cpu/vector/vector_kernels.hpp"

// A thread sanitizer does not see the barriers of the packaged OpenMP runtime, and takes them for races.
#ifdef __SANITIZE_THREAD__
#define SKIP_WHERE_BARRIERS_ARE_UNSEEN() GTEST_SKIP() << "the thread sanitizer does not know this OpenMP runtime"
#else
#define SKIP_WHERE_BARRIERS_ARE_UNSEEN() static_cast<void>(0)
#endif

namespace gpusizer::cpu {

inline std::vector<const VectorKernels*> runnable_kernels() {
  std::vector<const VectorKernels*> list{&vector_kernels_baseline};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) list.push_back(&vector_kernels_avx2);
  if (best_vector_kernels().lanes == 16) list.push_back(&vector_kernels_avx512);
#endif
  return list;
}

inline std::vector<float> normal_values(size_t count, unsigned seed, float centre = 0, float deviation = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(centre, deviation);
  std::vector<float> v(count);
  for (float& x : v) x = normal(engine);
  return v;
}

}  // namespace gpusizer::cpu
