// SPDX-License-Identifier: Apache-2.0
// LSTM by cuDNN's RNN functions: one direction, any number of layers, all sequences of full length, no dropout.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <vector>

#include "workloads/backend/cuda/emulated/numbers/element.hpp"

struct cudnnRNNStruct {
  cudnnRNNMode_t cell = CUDNN_LSTM;
  cudnnRNNBiasMode_t bias = CUDNN_RNN_DOUBLE_BIAS;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int input = 0, hidden = 0, layers = 0;
  uint32_t flags = 0;
};

struct cudnnRNNDataStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnRNNDataLayout_t layout = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED;
  int steps = 0, batch = 0, width = 0;
  bool full_length = true;
};

struct cudnnTensorStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int> dims, strides;
};

struct cudnnDropoutStruct {
  float probability = 0;
};

namespace gpusizer::emulated {

constexpr int lstm_gates = 4;  // in cuDNN's order: input, forget, cell, output

// Where the parameters of a layer begin in the weight space, in elements: matrices of all layers first, then biases.
struct LayerPlaces {
  int64_t input_width;
  int64_t input_matrices, recurrent_matrices;  // [4, hidden, input_width], [4, hidden, hidden]
  int64_t input_bias, recurrent_bias;          // [4, hidden]; -1: none
};
LayerPlaces layer_places(const cudnnRNNStruct& rnn, int layer);
int64_t weight_elements(const cudnnRNNStruct& rnn);
// What the way back needs: gates, cells, outputs and gradients of gates of every layer and row, in float.
int64_t reserve_floats(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& x);

// One call of any of the three functions. Null where the caller gave null.
struct RecurrentCall {
  cudnnRNNStruct rnn;
  cudnnRNNDataStruct x_shape, y_shape;
  const void *x = nullptr, *y = nullptr, *dy = nullptr;
  void *y_to = nullptr, *dx = nullptr;
  const void *hx = nullptr, *cx = nullptr, *dhy = nullptr, *dcy = nullptr;
  void *hy = nullptr, *cy = nullptr, *dhx = nullptr, *dcx = nullptr;
  const void* weights = nullptr;
  void* weight_gradients = nullptr;
  float* reserve = nullptr;  // null: inference
};
void run_lstm_forward(const RecurrentCall& call);
void run_lstm_backward_data(const RecurrentCall& call);
void run_lstm_backward_weights(const RecurrentCall& call);

}  // namespace gpusizer::emulated
