// SPDX-License-Identifier: Apache-2.0
// The CUDA backend as the program sees it: a module beside the program, opened when it is asked for.
#pragma once

#include <memory>
#include <string>

#include "workloads/backend/backend.hpp"

namespace gpusizer {

// "cuda". Its probe says in one sentence why there is no device: "built without CUDA", "libcudnn.so.9 not found",
// "no NVIDIA driver", "driver 550 is too old, this build needs 580 or newer".
std::unique_ptr<Backend> make_cuda_backend();
// "cuda-emulated", in builds with tests: the same backend on an emulated device. Its numbers are right, its times are not.
std::unique_ptr<Backend> make_emulated_cuda_backend();

namespace cuda {

// What the system's loader says, as a reason for a person: "libcudnn.so.9 not found".
std::string loading_fault(const std::string& loader_text);

}  // namespace cuda

}  // namespace gpusizer
