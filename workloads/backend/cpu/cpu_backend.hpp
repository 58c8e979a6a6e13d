// SPDX-License-Identifier: Apache-2.0
// The CPU backend: oneDNN for convolutions, pooling and matrix products, own vector kernels for the rest.
#pragma once

#include <memory>

#include "workloads/backend/backend.hpp"

namespace gpusizer {

std::unique_ptr<Backend> make_cpu_backend();

}  // namespace gpusizer
