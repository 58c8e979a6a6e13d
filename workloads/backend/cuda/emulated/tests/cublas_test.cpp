// SPDX-License-Identifier: Apache-2.0
// Tests of the emulated cuBLAS: products in every orientation, its refusals, and what a wrong leading dimension does.
#include <cublas_v2.h>
#include <cuda_bf16.h>

#include "workloads/backend/cuda/emulated/tests/device_buffer.hpp"
#include "workloads/backend/cuda/emulated/tests/matrices.hpp"

namespace gpusizer::emulated {
namespace {

class Cublas : public OnEmulatedDevice {
 protected:
  void SetUp() override {
    OnEmulatedDevice::SetUp();
    ASSERT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cublasDestroy(handle_), CUBLAS_STATUS_SUCCESS);
    OnEmulatedDevice::TearDown();
  }

  cublasStatus_t gemm(const DeviceFloats& a, int lda, bool ta, const DeviceFloats& b, int ldb, bool tb,
                      const DeviceFloats& c, int ldc, int m, int n, int k, float beta = 0,
                      cublasComputeType_t compute = CUBLAS_COMPUTE_32F) {
    const float alpha = 1;
    return cublasGemmEx(handle_, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha,
                        a.get(), CUDA_R_32F, lda, b.get(), CUDA_R_32F, ldb, &beta, c.get(), CUDA_R_32F, ldc, compute,
                        CUBLAS_GEMM_DEFAULT);
  }

  cublasHandle_t handle_ = nullptr;
};

TEST_F(Cublas, MultipliesInEveryOrientation) {
  const int m = 9, n = 6, k = 300;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const TestMatrix a(ta ? k : m, ta ? m : k, (ta ? k : m) + 3, 1), b(tb ? n : k, tb ? k : n, (tb ? n : k) + 2, 2);
      const DeviceFloats da(a.values), db(b.values), dc(static_cast<size_t>((m + 1) * n));
      ASSERT_EQ(gemm(da, a.leading, ta, db, b.leading, tb, dc, m + 1, m, n, k), CUBLAS_STATUS_SUCCESS);
      const std::vector<float> c = dc.values();
      for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column)
          EXPECT_NEAR(c[static_cast<size_t>(row + column * (m + 1))], product_at(a, ta, b, tb, row, column), 1e-3);
    }
}

TEST_F(Cublas, AddsToWhatIsThere) {
  const DeviceFloats a({1, 2, 3, 4}), b({1, 0, 0, 1}), c({10, 10, 10, 10});
  ASSERT_EQ(gemm(a, 2, false, b, 2, false, c, 2, 2, 2, 2, 0.5f), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c.values(), (std::vector<float>{6, 7, 8, 9}));
}

TEST_F(Cublas, RoundsToTf32) {
  const float fine = 1.0f + 1.0f / 2048, coarse = 1.0f + 1.0f / 1024;  // 11 bits of mantissa, and 10
  const DeviceFloats a(std::vector<float>{fine}), b(std::vector<float>{1}), c(1);
  ASSERT_EQ(gemm(a, 1, false, b, 1, false, c, 1, 1, 1, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c.values()[0], fine);
  ASSERT_EQ(gemm(a, 1, false, b, 1, false, c, 1, 1, 1, 1, 0, CUBLAS_COMPUTE_32F_FAST_TF32), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c.values()[0], coarse);
}

TEST_F(Cublas, MultipliesBatchesOfBfloat16) {
  const std::vector<__nv_bfloat16> ones(2 * 4, __float2bfloat16(1.0f));
  const DeviceFloats storage(8), sums(2);
  ASSERT_EQ(cudaMemcpy(storage.get(), ones.data(), 16, cudaMemcpyHostToDevice), cudaSuccess);
  const float alpha = 2, beta = 0;
  ASSERT_EQ(cublasGemmStridedBatchedEx(handle_, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 4, &alpha, storage.get(), CUDA_R_16BF,
                                       4, 4, storage.get(), CUDA_R_16BF, 4, 4, &beta, sums.get(), CUDA_R_32F, 1, 1, 2,
                                       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(sums.values(), (std::vector<float>{8, 8}));
}

TEST_F(Cublas, RefusesWhatCublasRefuses) {
  const DeviceFloats x(16);
  EXPECT_EQ(gemm(x, 1, false, x, 2, false, x, 2, 2, 2, 2), CUBLAS_STATUS_INVALID_VALUE);  // lda below m
  EXPECT_EQ(gemm(x, 2, false, x, 2, false, x, 2, 2, 2, 2, 0, CUBLAS_COMPUTE_16F), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(unasked_errors(),
            std::vector<std::string>{"cublasGemmStridedBatchedEx returned CUBLAS_STATUS_INVALID_VALUE"});
  EXPECT_STREQ(cublasGetStatusString(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE");
}

TEST_F(Cublas, FindsALeadingDimensionThatReachesOutside) {
  expect_broken();
  const DeviceFloats a(4), b(4), c(4);
  EXPECT_EQ(gemm(a, 2, false, b, 2, false, c, 3, 2, 2, 2), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_NE(fault_message().find("matrix C of 2 x 2 with leading dimension 3 reaches outside"), std::string::npos);
  clear_errors();
}

// A leading dimension that stays inside the buffer can only show in the numbers.
TEST_F(Cublas, AWrongLeadingDimensionGivesOtherNumbers) {
  const TestMatrix a(4, 4, 5, 1), b(4, 4, 4, 2);
  const DeviceFloats da(a.values), db(b.values), right(16), wrong(16);
  ASSERT_EQ(gemm(da, 5, false, db, 4, false, right, 4, 4, 4, 4), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(gemm(da, 4, false, db, 4, false, wrong, 4, 4, 4, 4), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(right.values(), wrong.values());
}

}  // namespace
}  // namespace gpusizer::emulated
