// SPDX-License-Identifier: Apache-2.0
// Tests that kernels compute on the emulated device what they say, in every order of their threads.
#include <cuda_fp16.h>

#include <numeric>

#include "workloads/backend/cuda/emulated/tests/device_buffer.hpp"
#include "workloads/backend/cuda/emulated/tests/kernels.hpp"

namespace gpusizer::emulated {
namespace {

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 17) - 8;
  return values;
}

class Kernels : public OnEmulatedDevice, public testing::WithParamInterface<ThreadOrder> {
  void SetUp() override { configure({.thread_order = GetParam(), .seed = 7}); }
};
INSTANTIATE_TEST_SUITE_P(Orders, Kernels,
                         testing::Values(ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::random,
                                         ThreadOrder::both));

TEST_P(Kernels, AddOneBufferToAnother) {
  const std::vector<float> x = ramp(1000);
  const DeviceFloats dx(x), dy(x);
  ASSERT_EQ(add_scaled(dy.get(), dx.get(), 0.5f, 1000, nullptr), cudaSuccess);
  const std::vector<float> y = dy.values();
  for (size_t i = 0; i < y.size(); ++i) EXPECT_FLOAT_EQ(y[i], 1.5f * x[i]);
}

TEST_P(Kernels, ComputeInHalfPrecision) {
  std::vector<__half> x(100, __float2half(1.5f));
  const DeviceFloats bytes(100);  // room for two buffers of halves
  auto* dx = reinterpret_cast<__half*>(bytes.get());
  ASSERT_EQ(cudaMemcpy(dx, x.data(), 200, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(dx + 100, x.data(), 200, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(add_scaled(dx, dx + 100, 2.0f, 100, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(x.data(), dx, 200, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(__half2float(x[99]), 4.5f);
}

TEST_P(Kernels, SumRowsWithShufflesAndBarriers) {
  const int rows = 5, columns = 700;
  const std::vector<float> x = ramp(rows * columns);
  const DeviceFloats dx(x), sums(rows);
  ASSERT_EQ(sum_rows(sums.get(), dx.get(), rows, columns, nullptr), cudaSuccess);
  const std::vector<float> got = sums.values();
  for (int row = 0; row < rows; ++row)
    EXPECT_EQ(got[row], std::accumulate(x.begin() + row * columns, x.begin() + (row + 1) * columns, 0.0f));
}

TEST_P(Kernels, SumColumnsInDynamicSharedMemory) {
  const int rows = 19, columns = 45;
  const std::vector<float> x = ramp(rows * columns);
  const DeviceFloats dx(x), sums(columns);
  ASSERT_EQ(sum_columns(sums.get(), dx.get(), rows, columns, nullptr), cudaSuccess);
  const std::vector<float> got = sums.values();
  for (int column = 0; column < columns; ++column) {
    float want = 0;
    for (int row = 0; row < rows; ++row) want += x[row * columns + column];
    EXPECT_EQ(got[column], want);
  }
}

TEST_P(Kernels, AddAtomically) {
  const std::vector<float> x = ramp(3000);
  const DeviceFloats dx(x), sum(1);
  ASSERT_EQ(cudaMemset(sum.get(), 0, 4), cudaSuccess);
  ASSERT_EQ(sum_squares(sum.get(), dx.get(), 3000, nullptr), cudaSuccess);
  EXPECT_EQ(sum.values()[0], std::inner_product(x.begin(), x.end(), x.begin(), 0.0f));
}

TEST_P(Kernels, Vote) {
  const std::vector<float> x = ramp(64);
  const DeviceFloats dx(x), votes(2);
  ASSERT_EQ(vote_positive(reinterpret_cast<unsigned*>(votes.get()), dx.get(), 64, nullptr), cudaSuccess);
  unsigned got[2];
  ASSERT_EQ(cudaMemcpy(got, votes.get(), sizeof got, cudaMemcpyDeviceToHost), cudaSuccess);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) bits |= (x[lane] > 0 ? 1u : 0u) << lane;
  EXPECT_EQ(got[0], bits);
  EXPECT_EQ(got[1], std::count_if(x.begin(), x.end(), [](float v) { return v > 0; }));
}

TEST_P(Kernels, LoadFourAtATime) {
  const std::vector<float> x = ramp(64);
  const DeviceFloats from(x), to(64);
  ASSERT_EQ(copy_vectors(to.get(), from.get(), 64, nullptr), cudaSuccess);
  EXPECT_EQ(to.values(), x);
}

using Launches = OnEmulatedDevice;

TEST_F(Launches, NeedAnOptInForMoreThan48KiBOfSharedMemory) {
  const DeviceFloats any(1);
  EXPECT_EQ(use_shared_bytes(any.get(), 48 << 10, nullptr), cudaSuccess);
  EXPECT_EQ(use_shared_bytes(any.get(), 64 << 10, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(allow_shared_bytes(300 << 10), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  ASSERT_EQ(allow_shared_bytes(64 << 10), cudaSuccess);
  EXPECT_EQ(use_shared_bytes(any.get(), 64 << 10, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Launches, RefuseGridsThatNoDeviceHas) {
  const DeviceFloats x(1);
  EXPECT_EQ(vote_positive(nullptr, x.get(), 1025, nullptr), cudaErrorInvalidConfiguration);
  EXPECT_EQ(sum_rows(x.get(), x.get(), 0, 1, nullptr), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

}  // namespace
}  // namespace gpusizer::emulated
