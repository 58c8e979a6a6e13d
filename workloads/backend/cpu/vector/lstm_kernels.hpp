// SPDX-License-Identifier: Apache-2.0
// Vector kernels of an LSTM layer: all time steps in one call, each step a blocked matrix product with the gates applied
// while its results are still in registers. Gates lie as PyTorch's: [rows, 4 H], blocks input, forget, cell, output.
#pragma once

#include <cstdint>

namespace gpusizer::cpu {

struct LstmShape {
  int64_t steps, batch, in, hidden;
  int threads;
};

struct LstmForward {
  LstmShape shape;
  const float *x, *weight_ih, *weight_hh, *bias_ih, *bias_hh;  // [T N, I], [4 H, I], [4 H, H], [4 H], [4 H]
  float *gates, *cell, *y;                                     // [T N, 4 H] after activation, [T N, H], [T N, H]
  float* packed;                                               // workspace: lstm_packed_floats
};

struct LstmBackward {
  LstmShape shape;
  const float *dy, *weight_hh, *cell;
  float* gates;   // as the forward left them; replaced by the gradients of the sums before activation
  float* dcell;   // workspace [N, H]
  float* packed;  // workspace: lstm_packed_floats
};

struct LstmKernels {
  int64_t (*packed_floats)(const LstmShape&);
  void (*forward)(const LstmForward&);
  void (*backward)(const LstmBackward&);
};

}  // namespace gpusizer::cpu
