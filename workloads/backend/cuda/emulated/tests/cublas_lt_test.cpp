// SPDX-License-Identifier: Apache-2.0
// Tests of the emulated cublasLt: its heuristic, its epilogues, and its refusals.
#include <cublasLt.h>

#include <cmath>

#include "workloads/backend/cuda/emulated/tests/device_buffer.hpp"
#include "workloads/backend/cuda/emulated/tests/matrices.hpp"

namespace gpusizer::emulated {
namespace {

constexpr int rows = 8, columns = 5, depth = 3, aux_leading = 128;

class CublasLt : public OnEmulatedDevice {
 protected:
  void SetUp() override {
    OnEmulatedDevice::SetUp();
    ASSERT_EQ(cublasLtCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatrixLayoutCreate(&a_layout_, CUDA_R_32F, rows, depth, rows), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatrixLayoutCreate(&b_layout_, CUDA_R_32F, depth, columns, depth), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatrixLayoutCreate(&d_layout_, CUDA_R_32F, rows, columns, rows), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatmulPreferenceCreate(&preference_), CUBLAS_STATUS_SUCCESS);
  }

  void TearDown() override {
    cublasLtMatmulPreferenceDestroy(preference_);
    for (const auto layout : {a_layout_, b_layout_, d_layout_}) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(operation_);
    cublasLtDestroy(handle_);
    OnEmulatedDevice::TearDown();
  }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    ASSERT_EQ(cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }

  std::vector<cublasLtMatmulHeuristicResult_t> heuristics() {
    std::vector<cublasLtMatmulHeuristicResult_t> results(8);
    int count = 0;
    status_ = cublasLtMatmulAlgoGetHeuristic(handle_, operation_, a_layout_, b_layout_, d_layout_, d_layout_,
                                             preference_, 8, results.data(), &count);
    results.resize(static_cast<size_t>(count));
    return results;
  }

  cublasStatus_t multiply(const DeviceFloats& a, const DeviceFloats& b, const DeviceFloats& d,
                          const cublasLtMatmulAlgo_t* algorithm = nullptr) {
    const float alpha = 1, beta = 0;
    return cublasLtMatmul(handle_, operation_, &alpha, a.get(), a_layout_, b.get(), b_layout_, &beta, d.get(),
                          d_layout_, d.get(), d_layout_, algorithm, nullptr, 0, nullptr);
  }

  double sum(int row, int column) const { return product_at(a_, false, b_, false, row, column); }

  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_layout_ = nullptr, b_layout_ = nullptr, d_layout_ = nullptr;
  cublasLtMatmulPreference_t preference_ = nullptr;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
  const TestMatrix a_{rows, depth, rows, 1}, b_{depth, columns, depth, 3};
};

TEST_F(CublasLt, OffersAlgorithmsOfWhichOneFails) {
  const DeviceFloats a(a_.values), b(b_.values), d(rows * columns);
  const auto without_workspace = heuristics();
  ASSERT_EQ(without_workspace.size(), 2u);
  EXPECT_EQ(multiply(a, b, d, &without_workspace[0].algo), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(multiply(a, b, d, &without_workspace[1].algo), CUBLAS_STATUS_NOT_SUPPORTED);
  const uint64_t bytes = 1 << 20;
  ASSERT_EQ(
      cublasLtMatmulPreferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
      CUBLAS_STATUS_SUCCESS);
  const auto with_workspace = heuristics();
  ASSERT_EQ(with_workspace.size(), 3u);
  EXPECT_EQ(multiply(a, b, d, &with_workspace[2].algo), CUBLAS_STATUS_INVALID_VALUE);  // without its workspace
  EXPECT_STREQ(cublasLtGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE");
  const std::vector<float> got = d.values();
  for (int i = 0; i < rows * columns; ++i) EXPECT_FLOAT_EQ(got[static_cast<size_t>(i)], sum(i % rows, i / rows));
}

TEST_F(CublasLt, AddsABiasToEachRowAndKeepsWhereReluPassed) {
  const std::vector<float> bias = {-3, -2, -1, 0, 1, 2, 3, 4};
  const DeviceFloats a(a_.values), b(b_.values), d(rows * columns), db(bias), mask(aux_leading * columns / 32);
  set<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
  set<void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, db.get());
  set<void*>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, mask.get());
  set<int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux_leading);
  ASSERT_EQ(multiply(a, b, d), CUBLAS_STATUS_SUCCESS);
  const std::vector<float> y = d.values();
  for (int i = 0; i < rows * columns; ++i)
    EXPECT_FLOAT_EQ(y[static_cast<size_t>(i)],
                    std::max(0.0, sum(i % rows, i / rows) + bias[static_cast<size_t>(i % rows)]));

  // The way back: the mask stops the gradient, and the bias gets the sum of each row.
  set<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DRELU_BGRAD);
  ASSERT_EQ(multiply(a, b, d), CUBLAS_STATUS_SUCCESS);
  const std::vector<float> dx = d.values(), bias_gradient = db.values();
  for (int row = 0; row < rows; ++row) {
    double want = 0;
    for (int column = 0; column < columns; ++column) {
      const double passed = y[static_cast<size_t>(row + column * rows)] > 0 ? sum(row, column) : 0;
      EXPECT_FLOAT_EQ(dx[static_cast<size_t>(row + column * rows)], passed);
      want += passed;
    }
    EXPECT_NEAR(bias_gradient[static_cast<size_t>(row)], want, 1e-5);
  }
}

TEST_F(CublasLt, ComputesGeluByTanhAndItsGradient) {
  const DeviceFloats a(a_.values), b(b_.values), d(rows * columns), before(rows * columns);
  set<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX);
  set<void*>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, before.get());
  set<int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, rows);
  ASSERT_EQ(multiply(a, b, d), CUBLAS_STATUS_SUCCESS);
  const auto gelu = [](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  };
  const std::vector<float> y = d.values(), kept = before.values();
  set<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU);
  ASSERT_EQ(multiply(a, b, d), CUBLAS_STATUS_SUCCESS);
  const std::vector<float> dx = d.values();
  for (int i = 0; i < rows * columns; ++i) {
    const double x = sum(i % rows, i / rows), step = 1e-4;
    EXPECT_NEAR(kept[static_cast<size_t>(i)], x, 1e-5);
    EXPECT_NEAR(y[static_cast<size_t>(i)], gelu(x), 1e-5);
    EXPECT_NEAR(dx[static_cast<size_t>(i)], x * (gelu(x + step) - gelu(x - step)) / (2 * step), 1e-4);
  }
}

TEST_F(CublasLt, SumsAnOperandForTheGradientOfABias) {
  const DeviceFloats a(a_.values), b(b_.values), d(rows * columns), sums(rows);
  set<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BGRADA);
  set<void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, sums.get());
  ASSERT_EQ(multiply(a, b, d), CUBLAS_STATUS_SUCCESS);
  const std::vector<float> got = sums.values();
  for (int row = 0; row < rows; ++row)
    EXPECT_FLOAT_EQ(got[static_cast<size_t>(row)], a_.at(row, 0) + a_.at(row, 1) + a_.at(row, 2));
}

TEST_F(CublasLt, RefusesWhatDoesNotFit) {
  const uint64_t wrong = depth + 1;
  cublasLtMatrixLayoutSetAttribute(b_layout_, CUBLASLT_MATRIX_LAYOUT_ROWS, &wrong, sizeof wrong);
  EXPECT_TRUE(heuristics().empty());
  EXPECT_EQ(status_, CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(b_layout_, CUBLASLT_MATRIX_LAYOUT_ROWS, &wrong, 4),
            CUBLAS_STATUS_INVALID_VALUE);  // an attribute of 8 bytes
  EXPECT_STREQ(cublasLtGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE");
}

TEST_F(CublasLt, RefusesAMaskWhoseLeadingDimensionIsNoMultipleOf128) {
  set<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX);
  set<int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, rows);
  EXPECT_TRUE(heuristics().empty());
  EXPECT_EQ(status_, CUBLAS_STATUS_NOT_SUPPORTED);
}

}  // namespace
}  // namespace gpusizer::emulated
