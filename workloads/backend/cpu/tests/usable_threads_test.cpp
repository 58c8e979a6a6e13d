// SPDX-License-Identifier: Apache-2.0
// How many threads the CPU backend takes when nobody says it.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <string>

#include "workloads/backend/cpu/cpu_backend.hpp"

namespace gpusizer {
namespace {

int threads_with(const char* limit) {
  const char* known = std::getenv("OMP_NUM_THREADS");
  const std::string before = known ? known : "";
  limit ? setenv("OMP_NUM_THREADS", limit, 1) : unsetenv("OMP_NUM_THREADS");
  const int threads = make_cpu_backend()->probe().devices.at(0).threads;
  known ? setenv("OMP_NUM_THREADS", before.c_str(), 1) : unsetenv("OMP_NUM_THREADS");
  return threads;
}

TEST(UsableThreads, AreTheCoresOrWhatOpenMpIsLimitedTo) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  const int cores = CPU_COUNT(&set);
  EXPECT_EQ(threads_with(nullptr), cores);
  EXPECT_EQ(threads_with("1"), 1);
  EXPECT_EQ(threads_with("1,2"), 1);
  EXPECT_EQ(threads_with("100000"), cores);
  EXPECT_EQ(threads_with("0"), cores);
  EXPECT_EQ(threads_with("many"), cores);
}

}  // namespace
}  // namespace gpusizer
