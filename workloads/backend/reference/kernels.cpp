// SPDX-License-Identifier: Apache-2.0
// Finds the kernel of an operation among the families.
#include "workloads/backend/reference/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer::reference {

const Kernel& kernel(OpKind kind) {
  for (const auto family : {convolution(), normalization(), pointwise(), pooling(), linear(), loss(), gather(), layer_norm(),
                            attention(), recurrent(), regression(), mixed_precision(), quantization(), optimizer(),
                            shares(), vocabulary(), statistics()})
    if (const auto it = std::ranges::find(family, kind, &Kernel::kind); it != family.end()) return *it;
  throw Error(Fault::usage, fmt::format("the reference backend cannot compute {}", operation_name(kind)));
}

}  // namespace gpusizer::reference
