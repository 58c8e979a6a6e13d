// SPDX-License-Identifier: Apache-2.0
// Why there is no GPU, in one sentence, wherever the program is started.
#include "workloads/backend/cuda/cuda_backend.hpp"

#include <gtest/gtest.h>

#include "gpusizer/error.hpp"
#include "workloads/backend/cuda/driver.hpp"

namespace gpusizer {
namespace {

// CUDA's own numbers for "insufficient driver" and "no device".
constexpr int insufficient = 35, no_device = 100;

TEST(CudaBackend, SaysThatThereIsNoDriver) {
  EXPECT_EQ(cuda::no_device_reason(insufficient, 0, 13000), "no NVIDIA driver");
  EXPECT_EQ(cuda::no_device_reason(no_device, 0, 13000), "no NVIDIA driver");
}

TEST(CudaBackend, SaysWhichDriverIsThereAndWhichIsNeeded) {
  EXPECT_EQ(cuda::no_device_reason(insufficient, 12040, 13000), "driver 550 is too old, this build needs 580 or newer");
  EXPECT_EQ(cuda::no_device_reason(insufficient, 12090, 13000), "driver 575 is too old, this build needs 580 or newer");
  EXPECT_EQ(cuda::no_device_reason(insufficient, 11080, 12040), "driver 520 is too old, this build needs 525 or newer");
  EXPECT_EQ(cuda::no_device_reason(insufficient, 10020, 12040), "the driver is too old, this build needs 525 or newer");
}

TEST(CudaBackend, SaysThatTheDriverSeesNothing) {
  EXPECT_EQ(cuda::no_device_reason(no_device, 13000, 13000), "the NVIDIA driver sees no GPU");
  EXPECT_EQ(cuda::no_device_reason(999, 13000, 13000), "the NVIDIA driver answers with error 999");
}

TEST(CudaBackend, NamesTheLibraryThatIsMissing) {
  EXPECT_EQ(cuda::loading_fault("libcudnn.so.9: cannot open shared object file: No such file or directory"),
            "libcudnn.so.9 not found");
  EXPECT_EQ(cuda::loading_fault("/opt/x.so: undefined symbol: cudnnCreate"),
            "its module cannot be loaded: /opt/x.so: undefined symbol: cudnnCreate");
}

// These tests have no module beside them.
TEST(CudaBackend, StartsWithoutItsModule) {
  for (const auto& backend : {make_cuda_backend(), make_emulated_cuda_backend()}) {
    const Probe probe = backend->probe();
    EXPECT_TRUE(probe.devices.empty());
    EXPECT_TRUE(probe.reason == "built without CUDA" || probe.reason.ends_with(" is not beside the program")) << probe.reason;
    EXPECT_TRUE(backend->libraries().empty());
    try {
      backend->target({});
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.fault(), Fault::environment);
    }
  }
}

}  // namespace
}  // namespace gpusizer
