// SPDX-License-Identifier: Apache-2.0
// Our own CPU kernels behind one table of functions; the same source is compiled for several instruction sets.
#pragma once

#include <cstdint>

#include "workloads/backend/cpu/vector/attention_kernels.hpp"
#include "workloads/backend/cpu/vector/lstm_kernels.hpp"
#include "workloads/backend/cpu/vector/rounding_kernels.hpp"
#include "workloads/backend/cpu/vector/row_kernels.hpp"
#include "workloads/backend/cpu/vector/update_kernels.hpp"

namespace gpusizer::cpu {

// [N, C, H, W] as [batch, blocks, spatial, lanes]; lanes beyond `channels` are zero and stay zero.
struct BlockedShape {
  int64_t batch, blocks, spatial, channels;
};

struct NormForward {
  BlockedShape shape;
  const float *x, *scale, *shift;
  const float* residual = nullptr;                       // added before the ReLU
  float *running_mean = nullptr, *running_variance = nullptr;
  float* y = nullptr;
  float *mean = nullptr, *inverse_deviation = nullptr;   // kept for the backward: [blocks * lanes]; training only
  uint8_t* mask = nullptr;                               // one bit an element: the ReLU let it through
  double* partial = nullptr;                             // workspace
  float epsilon = 0, momentum = 0;
  bool training = true, relu = false;
  int threads = 1;
};

struct NormBackward {
  BlockedShape shape;
  const float *dy, *dy2;  // dy2: a second incoming gradient, or nullptr
  const float *x, *scale;
  const float *mean = nullptr, *inverse_deviation = nullptr;
  const uint8_t* mask = nullptr;  // nullptr: no ReLU
  float *dx = nullptr, *dscale = nullptr, *dshift = nullptr;
  float* dresidual = nullptr;     // the masked sum of the incoming gradients, or nullptr
  double* partial = nullptr;
  int threads = 1;
};

// One image is one block of channels of one sample.
struct MaxPoolShape {
  int64_t images, height, width, rows, columns;  // rows, columns: of the result
  int64_t kernel, stride, padding;               // kernel^2 <= 256: the chosen place is kept in a byte
};

struct VectorKernels {
  const char* instruction_set;
  int lanes;  // channels in a block of the images' layout
  int64_t (*batch_norm_workspace_bytes)(const BlockedShape&, int threads);
  void (*batch_norm_forward)(const NormForward&);
  void (*batch_norm_backward)(const NormBackward&);
  void (*relu)(const float* x, float* y, int64_t count);
  // dx = (dy + dy2) where y > 0; dy2 may be nullptr
  void (*relu_backward)(const float* dy, const float* dy2, const float* y, float* dx, int64_t count);
  void (*add)(const float* a, const float* b, float* y, int64_t count, bool relu);
  // chosen: one byte an element of the result, the place in its window that holds the largest value
  void (*max_pool_forward)(const MaxPoolShape&, const float* x, float* y, uint8_t* chosen);
  void (*max_pool_backward)(const MaxPoolShape&, const float* dy, const uint8_t* chosen, float* dx);
  void (*column_sums)(const float* matrix, float* sums, int64_t rows, int64_t columns);
  RowKernels rows;
  AttentionKernels attention;
  LstmKernels lstm;
  RoundKernels round;
  UpdateKernels update;
};

extern const VectorKernels vector_kernels_baseline;
#ifdef __x86_64__
extern const VectorKernels vector_kernels_avx2;
extern const VectorKernels vector_kernels_avx512;
#endif

// The fastest that this processor runs.
const VectorKernels& best_vector_kernels();

}  // namespace gpusizer::cpu
