// SPDX-License-Identifier: Apache-2.0
// How a dropout draws: what a kernel needs to know beside the element's number.
#pragma once

#include <cstdint>

namespace gpusizer::cuda {

// `state`: the two values of "random_state", in device memory; the rest as in program/dropout_mask.hpp.
struct Draw {
  const int32_t* state = nullptr;
  uint32_t stream = 0, threshold = 0;
  float scale = 1;  // of what is kept
};

}  // namespace gpusizer::cuda
