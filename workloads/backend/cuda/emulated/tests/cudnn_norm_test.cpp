// SPDX-License-Identifier: Apache-2.0
// Tests of the emulated cuDNN's norms and pooling, forward and backward.
#include <cmath>

#include "workloads/backend/cuda/emulated/tests/dnn_graph.hpp"

namespace gpusizer::emulated {
namespace {

using Attribute = TestGraph::Attribute;

TEST_F(Cudnn, NormalizesABatchAndUpdatesRunningStatistics) {
  TestGraph g(handle_);
  // Two channels of four values each: 1 2 3 4 and 2 4 6 8.
  const DeviceFloats x({1, 2, 2, 4, 3, 6, 4, 8}), y(8), mean(2), inverse(2), scale({1, 2}), bias({0, 1}),
      old_mean({0, 10}), old_variance({1, 1}), new_mean(2), new_variance(2);
  const Sizes all{4, 2, 1, 1}, channel{1, 2, 1, 1}, one{1, 1, 1, 1};
  const auto by_value = [&] { return g.tensor(one, {}, CUDNN_DATA_FLOAT, false, true); };
  const auto tensor = [&](cudnnBackendAttributeName_t name, const Sizes& dims) {
    return g.names(name, g.tensor(dims));
  };
  const auto op =
      g.make(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
             {g.attribute<cudnnBackendNormMode_t>(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE,
                                                  {CUDNN_BATCH_NORM}),
              g.attribute<cudnnBackendNormFwdPhase_t>(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE,
                                                      {CUDNN_NORM_FWD_TRAINING}),
              tensor(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, all), tensor(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, all),
              tensor(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, channel),
              tensor(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, channel),
              tensor(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, channel),
              tensor(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, channel),
              tensor(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, channel),
              tensor(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, channel),
              tensor(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, channel),
              tensor(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, channel),
              g.names(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, by_value()),
              g.names(CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, by_value())});
  float epsilon = 0, factor = 0.5f;
  ASSERT_EQ(g.run({op}, {{1, x.get()},
                         {2, y.get()},
                         {3, mean.get()},
                         {4, inverse.get()},
                         {5, scale.get()},
                         {6, bias.get()},
                         {7, old_mean.get()},
                         {8, old_variance.get()},
                         {9, new_mean.get()},
                         {10, new_variance.get()},
                         {11, &epsilon},
                         {12, &factor}}),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(mean.values(), (std::vector<float>{2.5f, 5.0f}));
  EXPECT_NEAR(inverse.values()[0], 1 / std::sqrt(1.25), 1e-6);
  EXPECT_NEAR(y.values()[0], -1.5 / std::sqrt(1.25), 1e-6);
  EXPECT_NEAR(y.values()[7], 1 + 2 * 3 / std::sqrt(5.0), 1e-6);
  EXPECT_EQ(new_mean.values(), (std::vector<float>{1.25f, 7.5f}));
  EXPECT_NEAR(new_variance.values()[0], 0.5 + 0.5 * 5.0 / 3, 1e-6);  // of a sample: divided by n - 1
}

// The gradient of a layer norm by finite differences of sum(dy * y).
TEST_F(Cudnn, GoesBackThroughALayerNorm) {
  const std::vector<float> x = {1, 3, 2, 5, -1, 0, 4, 2}, scale = {1, 2, -1, 0.5f}, dy = {1, -2, 0.5f, 3, 2, 1, -1, 1};
  TestGraph g(handle_);
  const DeviceFloats px(x), pdy(dy), ps(scale), mean({2.75f, 1.25f}), inverse(2), dx(8), dscale(4), dbias(4);
  std::vector<float> inverses;
  for (int row = 0; row < 2; ++row) {
    double variance = 0;
    for (int i = 0; i < 4; ++i) variance += std::pow(x[static_cast<size_t>(row * 4 + i)] - (row ? 1.25 : 2.75), 2) / 4;
    inverses.push_back(static_cast<float>(1 / std::sqrt(variance)));
  }
  ASSERT_EQ(cudaMemcpy(inverse.get(), inverses.data(), 8, cudaMemcpyHostToDevice), cudaSuccess);
  const Sizes all{2, 4, 1, 1}, row{2, 1, 1, 1}, weight{1, 4, 1, 1};
  const auto tensor = [&](cudnnBackendAttributeName_t name, const Sizes& dims) {
    return g.names(name, g.tensor(dims));
  };
  const auto op = g.make(
      CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
      {g.attribute<cudnnBackendNormMode_t>(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE,
                                           {CUDNN_LAYER_NORM}),
       tensor(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, all), tensor(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, all),
       tensor(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, weight), tensor(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, row),
       tensor(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, row), tensor(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, all),
       tensor(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, weight),
       tensor(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, weight)});
  ASSERT_EQ(g.run({op}, {{1, px.get()},
                         {2, pdy.get()},
                         {3, ps.get()},
                         {4, mean.get()},
                         {5, inverse.get()},
                         {6, dx.get()},
                         {7, dscale.get()},
                         {8, dbias.get()}}),
            CUDNN_STATUS_SUCCESS);
  const auto loss = [&](const std::vector<double>& at) {
    double sum = 0;
    for (size_t r = 0; r < 2; ++r) {
      double m = 0, v = 0;
      for (size_t i = 0; i < 4; ++i) m += at[r * 4 + i] / 4;
      for (size_t i = 0; i < 4; ++i) v += (at[r * 4 + i] - m) * (at[r * 4 + i] - m) / 4;
      for (size_t i = 0; i < 4; ++i)
        sum += static_cast<double>(dy[r * 4 + i]) * static_cast<double>(scale[i]) * (at[r * 4 + i] - m) / std::sqrt(v);
    }
    return sum;
  };
  const std::vector<float> got = dx.values();
  for (size_t i = 0; i < 8; ++i) {
    std::vector<double> up(x.begin(), x.end()), down = up;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    EXPECT_NEAR(got[i], (loss(up) - loss(down)) / 2e-5, 1e-4);
  }
  EXPECT_EQ(dbias.values(), (std::vector<float>{3, -1, -0.5f, 4}));
}

TEST_F(Cudnn, PoolsAndGoesBack) {
  TestGraph g(handle_);
  const DeviceFloats x({1, 5, 2, 0, 3, 4, 7, 6, 8}), y(4), dy({1, 2, 3, 4}), dx(9), places(1);
  const auto resample = g.make(
      CUDNN_BACKEND_RESAMPLE_DESCRIPTOR,
      {g.attribute<cudnnResampleMode_t>(CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, {CUDNN_RESAMPLE_MAXPOOL}),
       g.attribute<cudnnDataType_t>(CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT}),
       g.attribute<int64_t>(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, CUDNN_TYPE_INT64, {2}),
       g.attribute<int64_t>(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, CUDNN_TYPE_INT64, {0, 0}),
       g.attribute<int64_t>(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, CUDNN_TYPE_INT64, {0, 0}),
       g.attribute<int64_t>(CUDNN_ATTR_RESAMPLE_STRIDES, CUDNN_TYPE_INT64, {1, 1}),
       g.attribute<int64_t>(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, CUDNN_TYPE_INT64, {2, 2})});
  const Sizes image{1, 1, 3, 3}, pooled{1, 1, 2, 2};
  const auto tx = g.tensor(image), ty = g.tensor(pooled), tp = g.tensor(pooled, {}, CUDNN_DATA_INT8),
             tdy = g.tensor(pooled), tdx = g.tensor(image);
  const auto forward = g.make(
      CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR,
      {g.names(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, tx), g.names(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, ty),
       g.names(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, tp),
       g.names(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, resample)});
  const auto backward = g.make(
      CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR,
      {g.names(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, tdx), g.names(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, tdy),
       g.names(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, tp),
       g.names(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, resample)});
  ASSERT_EQ(g.run({forward}, {{1, x.get()}, {2, y.get()}, {3, places.get()}}), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(g.run({backward}, {{5, dx.get()}, {4, dy.get()}, {3, places.get()}}), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(y.values(), (std::vector<float>{5, 5, 7, 8}));
  EXPECT_EQ(dx.values(), (std::vector<float>{0, 3, 0, 0, 0, 0, 3, 0, 4}));
}

}  // namespace
}  // namespace gpusizer::emulated
