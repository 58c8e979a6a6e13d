// SPDX-License-Identifier: Apache-2.0
// The LSTM's arithmetic, layer by layer: c = f c' + i g, h = o tanh(c), and its gradient through time.
#include <algorithm>
#include <cmath>

#include "workloads/backend/cuda/emulated/dnn/recurrent.hpp"
#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"
#include "workloads/backend/cuda/emulated/numbers/product.hpp"

namespace gpusizer::emulated {
namespace {

// Rows are steps * batch; a row of step t and sequence b is t * batch + b, whatever the caller's layout.
int64_t place_in_memory(const cudnnRNNDataStruct& shape, int64_t row) {
  if (shape.layout != CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED) return row * shape.width;
  return (row % shape.batch * shape.steps + row / shape.batch) * shape.width;
}

Values load_rows(const cudnnRNNDataStruct& shape, const void* from) {
  const int64_t rows = int64_t{shape.steps} * shape.batch;
  Values values(static_cast<size_t>(rows * shape.width), 0.0f);
  if (!from) return values;
  const Element type = element_of_dnn(shape.type);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < shape.width; ++i)
      values[static_cast<size_t>(row * shape.width + i)] = read_element(type, from, place_in_memory(shape, row) + i);
  return values;
}

void store_rows(const cudnnRNNDataStruct& shape, void* to, const Values& values) {
  if (!to) return;
  const Element type = element_of_dnn(shape.type);
  for (int64_t row = 0; row < int64_t{shape.steps} * shape.batch; ++row)
    for (int64_t i = 0; i < shape.width; ++i)
      write_element(type, to, place_in_memory(shape, row) + i, values[static_cast<size_t>(row * shape.width + i)]);
}

// One layer's part of the states [layers, batch, hidden]; zeros for null.
Values load_state(const RecurrentCall& call, const void* from, int layer) {
  const int64_t count = int64_t{call.x_shape.batch} * call.rnn.hidden;
  Values values(static_cast<size_t>(count), 0.0f);
  for (int64_t i = 0; from && i < count; ++i)
    values[static_cast<size_t>(i)] = read_element(element_of_dnn(call.rnn.type), from, layer * count + i);
  return values;
}

void store_state(const RecurrentCall& call, void* to, int layer, const float* values) {
  const int64_t count = int64_t{call.x_shape.batch} * call.rnn.hidden;
  for (int64_t i = 0; to && i < count; ++i)
    write_element(element_of_dnn(call.rnn.type), to, layer * count + i, values[i]);
}

float rounded(cudnnDataType_t type, float value) {
  double storage;
  const Element element = element_of_dnn(type);
  write_element(element, &storage, 0, value);
  return read_element(element, &storage, 0);
}

Values load_weights(const RecurrentCall& call, int64_t first, int64_t count) {
  Values values(static_cast<size_t>(count), 0.0f);
  for (int64_t i = 0; first >= 0 && i < count; ++i)
    values[static_cast<size_t>(i)] = read_element(element_of_dnn(call.rnn.type), call.weights, first + i);
  return values;
}

// What the way back finds of one layer, in the reserve space or, for inference, in memory of its own.
struct LayerTape {
  float *gates, *cells, *outputs,
      *gate_gradients;  // [rows, 4 hidden], [rows, hidden], [rows, hidden], [rows, 4 hidden]
  LayerTape(const RecurrentCall& call, int layer, Values& own) {
    const int64_t per_layer = reserve_floats(call.rnn, call.x_shape) / call.rnn.layers;
    if (!call.reserve) own.assign(static_cast<size_t>(per_layer), 0.0f);
    const int64_t unit = per_layer / 10;
    gates = call.reserve ? call.reserve + layer * per_layer : own.data();
    cells = gates + 4 * unit;
    outputs = cells + unit;
    gate_gradients = outputs + unit;
  }
};

float logistic(float x) { return 1.0f / (1.0f + std::exp(-x)); }

// Adds left [rows, depth] * right [columns, depth]^T to sums [rows, columns].
void add_product(const float* left, int64_t rows, const Values& right, int64_t columns, int64_t depth, float* sums) {
  const auto products = inner_products(
      pack_vectors(columns, depth, left_tile, [&](int64_t c, int64_t p) { return right[c * depth + p]; }),
      pack_vectors(rows, depth, right_tile, [&](int64_t r, int64_t p) { return left[r * depth + p]; }));
  for (size_t i = 0; i < products.size(); ++i) sums[i] += products[i];
}

// Adds left [rows, depth] * right [depth, columns] to sums [rows, columns].
void add_product_of_rows(const float* left, int64_t rows, const Values& right, int64_t columns, int64_t depth,
                         float* sums) {
  const auto products = inner_products(
      pack_vectors(columns, depth, left_tile, [&](int64_t c, int64_t p) { return right[p * columns + c]; }),
      pack_vectors(rows, depth, right_tile, [&](int64_t r, int64_t p) { return left[r * depth + p]; }));
  for (size_t i = 0; i < products.size(); ++i) sums[i] += products[i];
}

void open_gates(const RecurrentCall& call, const LayerTape& tape, int64_t row, const float* cells_before) {
  const int64_t hidden = call.rnn.hidden;
  float* g = tape.gates + row * lstm_gates * hidden;
  for (int64_t h = 0; h < hidden; ++h) {
    float &in = g[h], &forget = g[hidden + h], &cell = g[2 * hidden + h], &out = g[3 * hidden + h];
    in = logistic(in);
    forget = logistic(forget);
    cell = std::tanh(cell);
    out = logistic(out);
    const float state = forget * cells_before[h] + in * cell;
    tape.cells[row * hidden + h] = state;
    tape.outputs[row * hidden + h] = rounded(call.rnn.type, out * std::tanh(state));
  }
}

Values forward_layer(const RecurrentCall& call, int layer, const Values& input) {
  const int64_t hidden = call.rnn.hidden, batch = call.x_shape.batch, rows = call.x_shape.steps * batch;
  const LayerPlaces places = layer_places(call.rnn, layer);
  const Values w = load_weights(call, places.input_matrices, 4 * hidden * places.input_width);
  const Values r = load_weights(call, places.recurrent_matrices, 4 * hidden * hidden);
  const Values bias = load_weights(call, places.input_bias, 4 * hidden);
  const Values second_bias = load_weights(call, places.recurrent_bias, 4 * hidden);
  const Values h0 = load_state(call, call.hx, layer), c0 = load_state(call, call.cx, layer);
  Values own;
  const LayerTape tape(call, layer, own);
  for (int64_t i = 0; i < rows * 4 * hidden; ++i) {
    const auto k = static_cast<size_t>(i % (4 * hidden));
    tape.gates[i] = bias[k] + second_bias[k];
  }
  add_product(input.data(), rows, w, 4 * hidden, places.input_width, tape.gates);
  for (int64_t first = 0; first < rows; first += batch) {
    const float* before = first ? tape.outputs + (first - batch) * hidden : h0.data();
    add_product(before, batch, r, 4 * hidden, hidden, tape.gates + first * 4 * hidden);
    for (int64_t b = 0; b < batch; ++b)
      open_gates(call, tape, first + b, (first ? tape.cells + (first - batch) * hidden : c0.data()) + b * hidden);
  }
  store_state(call, call.hy, layer, tape.outputs + (rows - batch) * hidden);
  store_state(call, call.cy, layer, tape.cells + (rows - batch) * hidden);
  return Values(tape.outputs, tape.outputs + rows * hidden);
}

// The gradients of one row's gates; dcell becomes that of the step before.
void close_gates(const LayerTape& tape, int64_t hidden, int64_t row, const float* cells_before, const float* dh,
                 float* dcell) {
  const float* g = tape.gates + row * 4 * hidden;
  float* d = tape.gate_gradients + row * 4 * hidden;
  for (int64_t h = 0; h < hidden; ++h) {
    const float in = g[h], forget = g[hidden + h], cell = g[2 * hidden + h], out = g[3 * hidden + h];
    const float t = std::tanh(tape.cells[row * hidden + h]);
    const float dc = dcell[h] + dh[h] * out * (1 - t * t);
    d[h] = dc * cell * in * (1 - in);
    d[hidden + h] = dc * cells_before[h] * forget * (1 - forget);
    d[2 * hidden + h] = dc * in * (1 - cell * cell);
    d[3 * hidden + h] = dh[h] * t * out * (1 - out);
    dcell[h] = dc * forget;
  }
}

Values backward_layer(const RecurrentCall& call, int layer, const Values& dy) {
  const int64_t hidden = call.rnn.hidden, batch = call.x_shape.batch, rows = call.x_shape.steps * batch;
  const LayerPlaces places = layer_places(call.rnn, layer);
  const Values w = load_weights(call, places.input_matrices, 4 * hidden * places.input_width);
  const Values r = load_weights(call, places.recurrent_matrices, 4 * hidden * hidden);
  const Values c0 = load_state(call, call.cx, layer);
  Values unused, dh = load_state(call, call.dhy, layer), dcell = load_state(call, call.dcy, layer);
  const LayerTape tape(call, layer, unused);
  for (int64_t first = rows - batch; first >= 0; first -= batch) {
    for (int64_t i = 0; i < batch * hidden; ++i)
      dh[static_cast<size_t>(i)] += dy[static_cast<size_t>(first * hidden + i)];
    for (int64_t b = 0; b < batch; ++b)
      close_gates(tape, hidden, first + b, (first ? tape.cells + (first - batch) * hidden : c0.data()) + b * hidden,
                  dh.data() + b * hidden, dcell.data() + b * hidden);
    std::fill(dh.begin(), dh.end(), 0.0f);
    add_product_of_rows(tape.gate_gradients + first * 4 * hidden, batch, r, hidden, 4 * hidden, dh.data());
  }
  store_state(call, call.dhx, layer, dh.data());
  store_state(call, call.dcx, layer, dcell.data());
  Values dx(static_cast<size_t>(rows * places.input_width), 0.0f);
  add_product_of_rows(tape.gate_gradients, rows, w, places.input_width, 4 * hidden, dx.data());
  return dx;
}

// Adds to the gradients that are there, as cuDNN does.
void add_gradient(const RecurrentCall& call, int64_t first, const Values& gradient) {
  const Element type = element_of_dnn(call.rnn.type);
  for (size_t i = 0; first >= 0 && i < gradient.size(); ++i) {
    const int64_t at = first + static_cast<int64_t>(i);
    write_element(type, call.weight_gradients, at, read_element(type, call.weight_gradients, at) + gradient[i]);
  }
}

void weight_gradients_of_layer(const RecurrentCall& call, int layer, const Values& input) {
  const int64_t hidden = call.rnn.hidden, batch = call.x_shape.batch, rows = call.x_shape.steps * batch;
  const LayerPlaces places = layer_places(call.rnn, layer);
  Values unused, before = load_state(call, call.hx, layer), sums(static_cast<size_t>(4 * hidden), 0.0f);
  const LayerTape tape(call, layer, unused);
  before.insert(before.end(), tape.outputs, tape.outputs + (rows - batch) * hidden);
  const auto by_gate = pack_vectors(4 * hidden, rows, right_tile,
                                    [&](int64_t k, int64_t row) { return tape.gate_gradients[row * 4 * hidden + k]; });
  const auto product = [&](const Values& with, int64_t width) {
    return inner_products(
        pack_vectors(width, rows, left_tile, [&](int64_t i, int64_t row) { return with[row * width + i]; }), by_gate);
  };
  add_gradient(call, places.input_matrices, product(input, places.input_width));
  add_gradient(call, places.recurrent_matrices, product(before, hidden));
  for (int64_t i = 0; i < rows * 4 * hidden; ++i) sums[static_cast<size_t>(i % (4 * hidden))] += tape.gate_gradients[i];
  add_gradient(call, places.input_bias, sums);
  add_gradient(call, places.recurrent_bias, sums);
}

}  // namespace

void run_lstm_forward(const RecurrentCall& call) {
  Values rows = load_rows(call.x_shape, call.x);
  for (int layer = 0; layer < call.rnn.layers; ++layer) rows = forward_layer(call, layer, rows);
  store_rows(call.y_shape, call.y_to, rows);
}

void run_lstm_backward_data(const RecurrentCall& call) {
  Values rows = load_rows(call.y_shape, call.dy);
  for (int layer = call.rnn.layers; layer-- > 0;) rows = backward_layer(call, layer, rows);
  store_rows(call.x_shape, call.dx, rows);
}

void run_lstm_backward_weights(const RecurrentCall& call) {
  Values input = load_rows(call.x_shape, call.x), unused;
  for (int layer = 0; layer < call.rnn.layers; ++layer) {
    weight_gradients_of_layer(call, layer, input);
    const LayerTape tape(call, layer, unused);
    input.assign(tape.outputs, tape.gate_gradients);  // they follow each other
  }
}

}  // namespace gpusizer::emulated
