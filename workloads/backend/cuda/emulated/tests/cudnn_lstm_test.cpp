// SPDX-License-Identifier: Apache-2.0
// Tests of the emulated cuDNN's LSTM: one step by hand, and gradients of two layers by finite differences.
#include <cmath>

#include "workloads/backend/cuda/emulated/tests/dnn_graph.hpp"

namespace gpusizer::emulated {
namespace {

// Descriptors of an LSTM in FP32 and its data, with sequences of full length.
class TestLstm {
 public:
  TestLstm(cudnnHandle_t handle, int input, int hidden, int layers, int steps, int batch, cudnnRNNDataLayout_t layout)
      : handle_(handle) {
    cudnnCreateRNNDescriptor(&rnn_);
    cudnnCreateRNNDataDescriptor(&x_);
    cudnnCreateRNNDataDescriptor(&y_);
    EXPECT_EQ(
        cudnnSetRNNDescriptor_v8(rnn_, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL,
                                 CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, input,
                                 hidden, hidden, layers, nullptr, CUDNN_RNN_PADDED_IO_ENABLED),
        CUDNN_STATUS_SUCCESS);
    const std::vector<int> lengths(static_cast<size_t>(batch), steps);
    EXPECT_EQ(cudnnSetRNNDataDescriptor(x_, CUDNN_DATA_FLOAT, layout, steps, batch, input, lengths.data(), nullptr),
              CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(cudnnSetRNNDataDescriptor(y_, CUDNN_DATA_FLOAT, layout, steps, batch, hidden, lengths.data(), nullptr),
              CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(cudnnGetRNNTempSpaceSizes(handle, rnn_, CUDNN_FWD_MODE_TRAINING, x_, &work_bytes_, &reserve_bytes_),
              CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(cudnnGetRNNWeightSpaceSize(handle, rnn_, &weight_bytes_), CUDNN_STATUS_SUCCESS);
  }
  TestLstm(const TestLstm&) = delete;
  TestLstm& operator=(const TestLstm&) = delete;
  ~TestLstm() {
    cudnnDestroyRNNDescriptor(rnn_);
    cudnnDestroyRNNDataDescriptor(x_);
    cudnnDestroyRNNDataDescriptor(y_);
  }

  size_t weights() const { return weight_bytes_ / 4; }
  size_t work() const { return work_bytes_ / 4; }
  size_t reserve() const { return reserve_bytes_ / 4; }
  cudnnRNNDescriptor_t rnn() const { return rnn_; }

  cudnnStatus_t forward(const DeviceFloats& x, const DeviceFloats& y, const DeviceFloats& w, const DeviceFloats& work,
                        const DeviceFloats& reserve) {
    return cudnnRNNForward(handle_, rnn_, CUDNN_FWD_MODE_TRAINING, nullptr, x_, x.get(), y_, y.get(), nullptr, nullptr,
                           nullptr, nullptr, nullptr, nullptr, weight_bytes_, w.get(), work_bytes_, work.get(),
                           reserve_bytes_, reserve.get());
  }
  cudnnStatus_t backward(const DeviceFloats& x, const DeviceFloats& y, const DeviceFloats& dy, const DeviceFloats& dx,
                         const DeviceFloats& w, const DeviceFloats& dw, const DeviceFloats& work,
                         const DeviceFloats& reserve) {
    if (const auto status = cudnnRNNBackwardData_v8(
            handle_, rnn_, nullptr, y_, y.get(), dy.get(), x_, dx.get(), nullptr, nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr, nullptr, weight_bytes_, w.get(), work_bytes_, work.get(), reserve_bytes_, reserve.get()))
      return status;
    return cudnnRNNBackwardWeights_v8(handle_, rnn_, CUDNN_WGRAD_MODE_ADD, nullptr, x_, x.get(), nullptr, nullptr, y_,
                                      y.get(), weight_bytes_, dw.get(), work_bytes_, work.get(), reserve_bytes_,
                                      reserve.get());
  }

 private:
  cudnnHandle_t handle_;
  cudnnRNNDescriptor_t rnn_ = nullptr;
  cudnnRNNDataDescriptor_t x_ = nullptr, y_ = nullptr;
  size_t work_bytes_ = 0, reserve_bytes_ = 0, weight_bytes_ = 0;
};

std::vector<float> ripple(size_t count, float phase) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = 0.6f * std::sin(static_cast<float>(i) * 2.3f + phase);
  return values;
}

TEST_F(Cudnn, StepsAnLstmOfOneCell) {
  TestLstm lstm(handle_, 1, 1, 1, 2, 1, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED);
  ASSERT_EQ(lstm.weights(), 16u);
  // Matrices of the input's gates i f g o, of the recurrent ones, then both biases.
  const std::vector<float> w = {1, 2, 3, 4, 0.5f, 0.25f, -1, 2, 0, 1, 0, 0, 0, 0, 0, 0.5f};
  const DeviceFloats x({0.5f, -1.0f}), y(2), weights(w), work(lstm.work()), reserve(lstm.reserve());
  ASSERT_EQ(lstm.forward(x, y, weights, work, reserve), CUDNN_STATUS_SUCCESS);
  double h = 0, c = 0;
  for (const double in : {0.5, -1.0}) {
    const auto gate = [&](size_t k) { return in * w[k] + h * w[4 + k] + w[8 + k] + w[12 + k]; };
    const auto open = [](double z) { return 1 / (1 + std::exp(-z)); };
    const double i = open(gate(0)), f = open(gate(1)), g = std::tanh(gate(2)), o = open(gate(3));
    c = f * c + i * g;
    h = o * std::tanh(c);
    EXPECT_NEAR(y.values()[in > 0 ? 0 : 1], h, 1e-6);
  }
}

TEST_F(Cudnn, TellsWhereTheParametersOfAGateAre) {
  const TestLstm lstm(handle_, 3, 2, 2, 1, 1, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED);
  cudnnTensorDescriptor_t matrix, bias;
  cudnnCreateTensorDescriptor(&matrix);
  cudnnCreateTensorDescriptor(&bias);
  void *matrix_at = nullptr, *bias_at = nullptr;
  std::vector<float> weights(lstm.weights());
  ASSERT_EQ(cudnnGetRNNWeightParams(handle_, lstm.rnn(), 1, lstm.weights() * 4, weights.data(), 6, matrix, &matrix_at,
                                    bias, &bias_at),
            CUDNN_STATUS_SUCCESS);
  cudnnDataType_t type;
  int rank = 0, dims[3], strides[3];
  ASSERT_EQ(cudnnGetTensorNdDescriptor(matrix, 3, &type, &rank, dims, strides), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(std::vector<int>(dims, dims + 3), (std::vector<int>{1, 2, 2}));
  // Layer 0: 4 x 2 x 3 and 4 x 2 x 2; layer 1: 4 x 2 x 2 of the input, then the third recurrent gate.
  EXPECT_EQ(static_cast<float*>(matrix_at) - weights.data(), 24 + 16 + 16 + 2 * 4);
  EXPECT_EQ(static_cast<float*>(bias_at) - weights.data(), 24 + 16 + 32 + 16 + 8 + 2 * 2);
  cudnnDestroyTensorDescriptor(matrix);
  cudnnDestroyTensorDescriptor(bias);
}

TEST_F(Cudnn, GoesBackThroughTwoLayersAndTime) {
  TestLstm lstm(handle_, 2, 3, 2, 4, 2, CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED);
  std::vector<float> x = ripple(2 * 4 * 2, 0), w = ripple(lstm.weights(), 1);
  const std::vector<float> dy = ripple(2 * 4 * 3, 2);
  const DeviceFloats work(lstm.work()), reserve(lstm.reserve()), pdy(dy), dx(x.size()), y(dy.size()),
      dw(std::vector<float>(w.size(), 1.0f));
  const auto loss = [&] {
    const DeviceFloats px(x), pw(w), result(dy.size());
    EXPECT_EQ(lstm.forward(px, result, pw, work, reserve), CUDNN_STATUS_SUCCESS);
    const std::vector<float> values = result.values();
    double sum = 0;
    for (size_t i = 0; i < dy.size(); ++i) sum += static_cast<double>(values[i]) * static_cast<double>(dy[i]);
    return sum;
  };
  {
    const DeviceFloats px(x), pw(w);
    ASSERT_EQ(lstm.forward(px, y, pw, work, reserve), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(lstm.backward(px, y, pdy, dx, pw, dw, work, reserve), CUDNN_STATUS_SUCCESS);
  }
  const std::vector<float> dx_values = dx.values(), dw_values = dw.values();
  const auto slope = [&](float& at) {
    const float before = at, step = 1e-2f;
    at = before + step;
    const double up = loss();
    at = before - step;
    const double down = loss();
    at = before;
    return (up - down) / (2 * static_cast<double>(step));
  };
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(dx_values[i], slope(x[i]), 1e-3) << "x " << i;
  for (size_t i = 0; i < w.size(); i += 7) EXPECT_NEAR(dw_values[i] - 1, slope(w[i]), 1e-3) << "w " << i;
}

TEST_F(Cudnn, RefusesAReserveSpaceThatIsTooSmall) {
  TestLstm lstm(handle_, 1, 1, 1, 2, 1, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED);
  const DeviceFloats x(2), y(2), w(lstm.weights()), work(lstm.work()), reserve(lstm.reserve() - 1);
  EXPECT_EQ(lstm.forward(x, y, w, work, reserve), CUDNN_STATUS_BAD_PARAM);
  EXPECT_STREQ(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM), "CUDNN_STATUS_BAD_PARAM");
}

}  // namespace
}  // namespace gpusizer::emulated
