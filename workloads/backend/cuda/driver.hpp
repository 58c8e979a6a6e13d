// SPDX-License-Identifier: Apache-2.0
// Whether there is a driver and whether it is new enough, as a sentence.
#pragma once

#include <string>

namespace gpusizer::cuda {

// Why cudaGetDeviceCount failed with `error`. `driver_version`: cudaDriverGetVersion, 0 without a driver;
// `runtime_version`: of this build. Both 35 "insufficient driver" and 100 "no device" come without a driver too.
std::string no_device_reason(int error, int driver_version, int runtime_version);

// The oldest driver for a CUDA version: "580" for 13000.
int oldest_driver(int cuda_version);

}  // namespace gpusizer::cuda
