// SPDX-License-Identifier: Apache-2.0
// Vector kernels over rows: dropout, layer normalisation, softmax cross-entropy, and functions of single elements.
#pragma once

#include <cstdint>

namespace gpusizer::cpu {

// Which elements are kept: see program/dropout_mask.hpp.
struct DropoutDraw {
  uint32_t seed = 0, step = 0, stream = 0, threshold = 0;
};

struct DropoutForward {
  const float *x, *residual;  // residual: added to the result, or nullptr
  float* y;
  uint8_t* bits;  // one for each element, dropout_bit_bytes(); nullptr: not kept
  int64_t count;
  DropoutDraw draw;
  float scale;
};
// One bit an element, in whole words of any vector width.
inline int64_t dropout_bit_bytes(int64_t count) { return (count + 63) / 64 * 8; }

struct LayerNormForward {
  const float *x, *scale, *shift;
  float *y, *mean, *inverse_deviation;  // [rows] each; nullptr: not kept
  int64_t rows, width;
  float epsilon;
};

struct LayerNormBackward {
  const float *dy, *x, *scale, *mean, *inverse_deviation;
  float *dx, *dscale, *dshift;
  float* partial;  // workspace
  int64_t rows, width;
  int parts;  // how many share the rows: threads
};

// What one row's logits say: the largest, the sum of exp(x - top) and of x - top, and whether the label is the largest.
struct SoftmaxRow {
  float top;
  double sum, total;
  bool correct;
};

struct SoftmaxGradient {
  float top, inverse_sum, everywhere, scale;
};

struct RowKernels {
  void (*dropout_forward)(const DropoutForward&);
  void (*dropout_backward)(const float* dy, const uint8_t* bits, float* dx, int64_t count, float scale);
  int64_t (*layer_norm_workspace_bytes)(int64_t width, int parts);
  void (*layer_norm_forward)(const LayerNormForward&);
  void (*layer_norm_backward)(const LayerNormBackward&);
  SoftmaxRow (*softmax_row)(const float* x, int64_t count, int64_t label, bool smoothing);
  // dx = (exp(x - top) * inverse_sum - everywhere) * scale
  void (*softmax_row_gradient)(const float* x, float* dx, int64_t count, const SoftmaxGradient&);
  void (*gelu)(const float* x, float* y, int64_t count);
  void (*gelu_backward)(const float* dy, const float* x, float* dx, int64_t count);
  void (*tanh)(const float* x, float* y, int64_t count);
  void (*tanh_backward)(const float* dy, const float* y, float* dx, int64_t count);
  void (*scale)(const float* x, float* y, int64_t count, float factor);
};

}  // namespace gpusizer::cpu
