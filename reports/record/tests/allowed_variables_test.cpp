// SPDX-License-Identifier: Apache-2.0
// No secret gets into a report through the environment.
#include <gtest/gtest.h>

#include "reports/record/environment.hpp"

namespace gpusizer::record {
namespace {

TEST(AllowedVariables, OnlyTheAllowedOnesPass) {
  const char* const environment[] = {"OMP_NUM_THREADS=4", "AWS_SECRET_ACCESS_KEY=abc", "HOME=/root", "DNNL_VERBOSE=1",
                                     "NCCL_SOCKET_IFNAME=eth0", "BROKEN", nullptr};
  EXPECT_EQ(allowed_variables(environment),
            (StringMap{{"DNNL_VERBOSE", "1"}, {"NCCL_SOCKET_IFNAME", "eth0"}, {"OMP_NUM_THREADS", "4"}}));
  EXPECT_TRUE(allowed_variables(nullptr).empty());
}

TEST(AllowedVariables, AllowedNamesWithSecretsDoNotPass) {
  EXPECT_FALSE(is_allowed_variable("NCCL_API_TOKEN", "1"));
  EXPECT_FALSE(is_allowed_variable("CUDA_X", "my password is x"));
  EXPECT_FALSE(is_allowed_variable("NCCL_X", "AKIAIOSFODNN7EXAMPLE42"));
  EXPECT_FALSE(is_allowed_variable("FI_X", "https://user:pass@host"));
  EXPECT_FALSE(is_allowed_variable("FI_X", std::string(300, '.')));
  EXPECT_TRUE(is_allowed_variable("FI_PROVIDER", "efa"));
  EXPECT_TRUE(is_allowed_variable("GOMP_CPU_AFFINITY", "0-3 5 7"));
}

}  // namespace
}  // namespace gpusizer::record
