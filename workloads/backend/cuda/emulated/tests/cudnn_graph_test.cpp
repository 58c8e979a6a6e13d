// SPDX-License-Identifier: Apache-2.0
// Tests of the emulated cuDNN graphs: each operation against sums written out, and what is refused.
#include <cmath>

#include "workloads/backend/cuda/emulated/tests/dnn_graph.hpp"

namespace gpusizer::emulated {
namespace {

std::vector<float> wave(size_t count, float phase) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i) * 1.7f + phase);
  return values;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// A 3 x 3 convolution with stride 2, padding 1 and two groups, channels last.
struct TestConvolution {
  const Sizes x{2, 4, 5, 7}, w{6, 2, 3, 3}, y{2, 6, 3, 4};
  static Sizes channels_last(const Sizes& d) { return {d[1] * d[2] * d[3], 1, d[3] * d[1], d[1]}; }
  static size_t count(const Sizes& d) { return static_cast<size_t>(d[0] * d[1] * d[2] * d[3]); }

  static cudnnBackendDescriptor_t describe(TestGraph& g) {
    return g.make(
        CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
        {g.attribute<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, {2}),
         g.attribute<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT}),
         g.attribute<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                                             {CUDNN_CROSS_CORRELATION}),
         g.attribute<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, {1, 1}),
         g.attribute<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, {1, 1}),
         g.attribute<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, {2, 2}),
         g.attribute<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, {1, 1})});
  }

  // One of the three operations; tensors 1, 2 and 3 are x, w and y or their gradients.
  static cudnnBackendDescriptor_t operation(TestGraph& g, cudnnBackendDescriptorType_t type,
                                            const std::array<cudnnBackendAttributeName_t, 4>& names) {
    const TestConvolution c;
    const auto x = g.tensor(c.x, channels_last(c.x)), w = g.tensor(c.w, channels_last(c.w)),
               y = g.tensor(c.y, channels_last(c.y));
    return g.make(type,
                  {g.names(names[0], x), g.names(names[1], w), g.names(names[2], y), g.names(names[3], describe(g))});
  }
};

TEST_F(Cudnn, ConvolvesForwardAndBackward) {
  const TestConvolution c;
  const std::vector<float> x = wave(c.count(c.x), 0), w = wave(c.count(c.w), 1), dy = wave(c.count(c.y), 2);
  const DeviceFloats px(x), pw(w), pdy(dy), y(dy.size()), dx(x.size()), dw(w.size());
  TestGraph forward(handle_), data(handle_), filter(handle_);
  const auto f = TestConvolution::operation(
      forward, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC});
  ASSERT_EQ(forward.run({f}, {{1, px.get()}, {2, pw.get()}, {3, y.get()}}), CUDNN_STATUS_SUCCESS);
  const auto d = TestConvolution::operation(
      data, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC});
  ASSERT_EQ(data.run({d}, {{1, dx.get()}, {2, pw.get()}, {3, pdy.get()}}), CUDNN_STATUS_SUCCESS);
  const auto b = TestConvolution::operation(
      filter, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC});
  ASSERT_EQ(filter.run({b}, {{1, px.get()}, {2, dw.get()}, {3, pdy.get()}}), CUDNN_STATUS_SUCCESS);

  // All three are one bilinear form.
  const double form = dot(y.values(), dy);
  EXPECT_NEAR(form, dot(dx.values(), x), 1e-4);
  EXPECT_NEAR(form, dot(dw.values(), w), 1e-4);
  // One output by hand: image 1, filter 4 (of the second group), row 2, column 3.
  double want = 0;
  for (int channel = 0; channel < 2; ++channel)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s) {
        const int row = 2 * 2 - 1 + r, column = 3 * 2 - 1 + s;
        if (row < 0 || row >= 5 || column < 0 || column >= 7) continue;
        want += static_cast<double>(x[static_cast<size_t>(((1 * 5 + row) * 7 + column) * 4 + 2 + channel)]) *
                static_cast<double>(w[static_cast<size_t>(((4 * 3 + r) * 3 + s) * 2 + channel)]);
      }
  EXPECT_NEAR(y.values()[((1 * 3 + 2) * 4 + 3) * 6 + 4], want, 1e-5);
}

// y = relu(x + bias), in one graph whose operations are listed backwards.
TEST_F(Cudnn, FusesPointwiseOperations) {
  TestGraph g(handle_);
  const std::vector<float> x = wave(24, 0), bias = {-0.5f, 0.0f, 0.5f};
  const DeviceFloats px(x), pb(bias), py(24);
  const auto tx = g.tensor({2, 3, 4}), tb = g.tensor({1, 3, 1}), sum = g.virtual_tensor({2, 3, 4}),
             ty = g.tensor({2, 3, 4});
  ASSERT_EQ(
      g.run({g.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, ty), g.pointwise(CUDNN_POINTWISE_ADD, tx, tb, sum)},
            {{1, px.get()}, {2, pb.get()}, {4, py.get()}}),
      CUDNN_STATUS_SUCCESS);
  const std::vector<float> y = py.values();
  for (size_t i = 0; i < 24; ++i) EXPECT_FLOAT_EQ(y[i], std::max(0.0f, x[i] + bias[i / 4 % 3]));
}

// Attention of one query block with a causal mask, as the composite graph has it: softmax(q k^T, masked) v.
TEST_F(Cudnn, ComputesMaskedAttentionAsOneGraph) {
  TestGraph g(handle_);
  const int64_t s = 5, d = 3;
  const std::vector<float> q = wave(15, 0), k = wave(15, 1), v = wave(15, 2);
  const DeviceFloats pq(q), pk(k), pv(v), po(15);
  const auto tq = g.tensor({1, 1, s, d}), tk = g.tensor({1, 1, d, s}, {15, 15, 1, d}), tv = g.tensor({1, 1, s, d}),
             to = g.tensor({1, 1, s, d}), low = g.tensor({1, 1, 1, 1}, {}, CUDNN_DATA_FLOAT, false, true);
  const auto virt = [&] { return g.virtual_tensor({1, 1, s, s}); };
  const auto scores = virt(), row = virt(), column = virt(), keep = virt(), masked = virt(), centred = virt(),
             exponentials = virt(), weights = virt();
  const auto greatest = g.virtual_tensor({1, 1, s, 1}), sum = g.virtual_tensor({1, 1, s, 1});
  const auto matmul = [&](auto a, auto b, auto c) {
    const auto type =
        g.make(CUDNN_BACKEND_MATMUL_DESCRIPTOR,
               {g.attribute<cudnnDataType_t>(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT})});
    return g.make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
                  {g.names(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a), g.names(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b),
                   g.names(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c), g.names(CUDNN_ATTR_OPERATION_MATMUL_DESC, type)});
  };
  const auto reduce = [&](cudnnReduceTensorOp_t kind, auto x, auto y) {
    const auto type = g.make(
        CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
        {g.attribute<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, {kind}),
         g.attribute<cudnnDataType_t>(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT})});
    return g.make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
                  {g.names(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x), g.names(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y),
                   g.names(CUDNN_ATTR_OPERATION_REDUCTION_DESC, type)});
  };
  float lowest = -1e30f;
  ASSERT_EQ(g.run({matmul(tq, tk, scores), g.pointwise(CUDNN_POINTWISE_GEN_INDEX, scores, nullptr, row, nullptr, 2),
                   g.pointwise(CUDNN_POINTWISE_GEN_INDEX, scores, nullptr, column, nullptr, 3),
                   g.pointwise(CUDNN_POINTWISE_CMP_GE, row, column, keep),
                   g.pointwise(CUDNN_POINTWISE_BINARY_SELECT, scores, low, masked, keep),
                   reduce(CUDNN_REDUCE_TENSOR_MAX, masked, greatest),
                   g.pointwise(CUDNN_POINTWISE_SUB, masked, greatest, centred),
                   g.pointwise(CUDNN_POINTWISE_EXP, centred, nullptr, exponentials),
                   reduce(CUDNN_REDUCE_TENSOR_ADD, exponentials, sum),
                   g.pointwise(CUDNN_POINTWISE_DIV, exponentials, sum, weights), matmul(weights, tv, to)},
                  {{1, pq.get()}, {2, pk.get()}, {3, pv.get()}, {4, po.get()}, {5, &lowest}}),
            CUDNN_STATUS_SUCCESS);
  lowest = 0;  // a number passed by value is read at the call
  const std::vector<float> o = po.values();
  for (int i = 0; i < s; ++i) {
    double total = 0;
    std::vector<double> want(3, 0.0);
    for (int j = 0; j <= i; ++j) {
      double score = 0;
      for (int c = 0; c < d; ++c)
        score += static_cast<double>(q[static_cast<size_t>(i * d + c)] * k[static_cast<size_t>(j * d + c)]);
      total += std::exp(score);
      for (int c = 0; c < d; ++c)
        want[static_cast<size_t>(c)] += std::exp(score) * static_cast<double>(v[static_cast<size_t>(j * d + c)]);
    }
    for (int c = 0; c < d; ++c)
      EXPECT_NEAR(o[static_cast<size_t>(i * d + c)], want[static_cast<size_t>(c)] / total, 1e-5);
  }
}

TEST_F(Cudnn, SaysWhichDevicesHaveNoEngine) {
  TestGraph g(handle_);
  const auto x = g.tensor({1, 8}, {}, CUDNN_DATA_BFLOAT16), y = g.tensor({1, 8}, {}, CUDNN_DATA_BFLOAT16);
  const auto op = g.pointwise(CUDNN_POINTWISE_RELU_FWD, x, nullptr, y);
  EXPECT_EQ(g.offered({op}, R"({"deviceVer":750})"), 0);
  EXPECT_EQ(g.offered({op}, R"({"deviceVer":800})"), 3);
}

TEST_F(Cudnn, RefusesWhatDoesNotFit) {
  TestGraph g(handle_);
  const DeviceFloats small(4);
  float host[8];
  const auto x = g.tensor({8}), y = g.tensor({8});
  const auto op = g.pointwise(CUDNN_POINTWISE_RELU_FWD, x, nullptr, y);
  EXPECT_EQ(g.run({op}, {{1, small.get()}, {2, small.get()}}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(g.run({op}, {{1, host}, {2, host}}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(g.run({op}, {{1, small.get()}}), CUDNN_STATUS_BAD_PARAM);
  char message[200];
  cudnnGetLastErrorString(message, sizeof message);
  EXPECT_STREQ(message, "tensor 1 reaches outside the device's memory");
  EXPECT_STREQ(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM), "CUDNN_STATUS_BAD_PARAM");
}

}  // namespace
}  // namespace gpusizer::emulated
