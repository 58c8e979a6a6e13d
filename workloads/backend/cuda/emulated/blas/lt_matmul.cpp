// SPDX-License-Identifier: Apache-2.0
// cublasLt's heuristic and product. The heuristic offers several algorithms, one of which fails when it is used.
#include <algorithm>

#include "workloads/backend/cuda/emulated/blas/lt_description.hpp"
#include "workloads/backend/cuda/emulated/runtime/task.hpp"

struct cublasLtContext {};

namespace gpusizer::emulated {
namespace {

// Algorithms: plain, one that is refused when it runs (a real heuristic may be wrong too), one that needs workspace.
constexpr int32_t failing_algorithm = 1;
constexpr uint64_t workspace_of[] = {0, 0, 64 << 10};
constexpr uint32_t needed_alignment = 16;  // bytes, where the caller promised as much

LtCall call_of(cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
               cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  return read_call(kept_in<LtOperation>(operation), kept_in<LtLayout>(a), kept_in<LtLayout>(b), kept_in<LtLayout>(c),
                   kept_in<LtLayout>(d));
}

bool is_aligned(const void* at, uint32_t promised) {
  return reinterpret_cast<uintptr_t>(at) % std::min(promised, needed_alignment) == 0;
}

size_t aux_bytes(const LtCall& call) {
  const LtOperation& o = call.operation;
  const auto elements =
      static_cast<size_t>((call.d.batch - 1) * o.aux_stride + (call.d.columns - 1) * o.aux_leading + call.d.rows);
  const bool bits = o.epilogue == CUBLASLT_EPILOGUE_RELU_AUX || o.epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS ||
                    o.epilogue == CUBLASLT_EPILOGUE_DRELU || o.epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD;
  return bits ? (elements + 7) / 8 : elements * element_bytes(call.aux_element);
}

std::string epilogue_outside(const LtCall& call, int device) {
  const uint32_t e = call.operation.epilogue;
  const bool uses_bias = (e & (4u | 16u | 256u | 512u)) != 0 && e != CUBLASLT_EPILOGUE_DEFAULT;
  const int64_t count = e == CUBLASLT_EPILOGUE_BGRADB ? call.d.columns : call.d.rows;
  if (uses_bias &&
      !is_device_memory(call.operation.bias, static_cast<size_t>(count) * element_bytes(call.bias_element), device))
    return "the bias reaches outside the device's memory";
  if ((e & 128u) && !is_device_memory(call.operation.aux, aux_bytes(call), device))
    return "the auxiliary matrix reaches outside the device's memory";
  return "";
}

cublasStatus_t check_algorithm(const cublasLtMatmulAlgo_t* algo, const LtCall& call, size_t workspace_bytes) {
  if (!algo) return CUBLAS_STATUS_SUCCESS;
  const auto& chosen = kept_in<const LtAlgorithm>(algo);
  if (chosen.magic != lt_magic || chosen.shape != shape_of(call)) return CUBLAS_STATUS_INVALID_VALUE;
  if (chosen.id == failing_algorithm) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (chosen.workspace_bytes > workspace_bytes) return CUBLAS_STATUS_INVALID_VALUE;
  const void* pointers[] = {call.a.data, call.b.data, call.c.data, call.d.data};
  for (size_t i = 0; i < 4; ++i)
    if (!is_aligned(pointers[i], chosen.alignment[i])) return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t start_call(const LtCall& call, const cublasLtMatmulAlgo_t* algo, void* workspace, size_t workspace_bytes,
                          cudaStream_t stream) {
  if (const auto status = check_call(call)) return status;
  if (const auto status = check_algorithm(algo, call, workspace_bytes)) return status;
  if (call.beta != 0 && !call.c.data) return CUBLAS_STATUS_INVALID_VALUE;
  const int device = device_of(stream);
  if (workspace_bytes && !is_device_memory(workspace, workspace_bytes, device)) return CUBLAS_STATUS_INVALID_VALUE;
  std::string outside = outside_memory({call.a, call.b, call.beta == 0 ? call.d : call.c, call.d}, device);
  if (outside.empty()) outside = epilogue_outside(call, device);
  if (!outside.empty()) {
    report_fault(device, cudaErrorIllegalAddress, "cublasLtMatmul: " + outside);
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  const auto status = enqueue("cublasLtMatmul", stream, [call] {
    return Task{"cublasLtMatmul", {}, [call] { run_call(call); }};
  });
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace
}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* lightHandle) {
  if (const auto planted = planted_blas_failure("cublasLtCreate")) return planted;
  *lightHandle = reinterpret_cast<cublasLtHandle_t>(new cublasLtContext);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle) {
  delete reinterpret_cast<cublasLtContext*>(lightHandle);
  return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
                                              cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
                                              cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
                                              cublasLtMatmulPreference_t preference, int requestedAlgoCount,
                                              cublasLtMatmulHeuristicResult_t heuristicResultsArray[],
                                              int* returnAlgoCount) {
  constexpr const char* function = "cublasLtMatmulAlgoGetHeuristic";
  if (const auto planted = planted_blas_failure(function)) return planted;
  if (!lightHandle || !operationDesc || !Adesc || !Bdesc || !Cdesc || !Ddesc || !preference || requestedAlgoCount < 1)
    return blas_status(function, CUBLAS_STATUS_INVALID_VALUE);
  *returnAlgoCount = 0;
  const LtCall call = call_of(operationDesc, Adesc, Bdesc, Cdesc, Ddesc);
  if (const auto status = check_call(call)) return blas_status(function, status);
  const auto& wanted = kept_in<LtPreference>(preference);
  for (int32_t id = 0; id < 3 && *returnAlgoCount < requestedAlgoCount; ++id) {
    if (workspace_of[id] > wanted.workspace_bytes) continue;
    cublasLtMatmulHeuristicResult_t& result = heuristicResultsArray[(*returnAlgoCount)++];
    result = {};
    auto& algorithm = kept_in<LtAlgorithm>(&result.algo);
    algorithm = {lt_magic, id, {}, workspace_of[id], shape_of(call)};
    std::copy_n(wanted.alignment, 4, algorithm.alignment);
    result.workspaceSize = workspace_of[id];
    result.state = CUBLAS_STATUS_SUCCESS;
    result.wavesCount = 1.0f;
  }
  return *returnAlgoCount ? CUBLAS_STATUS_SUCCESS : blas_status(function, CUBLAS_STATUS_NOT_SUPPORTED);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc, const void* alpha,
                              const void* A, cublasLtMatrixLayout_t Adesc, const void* B, cublasLtMatrixLayout_t Bdesc,
                              const void* beta, const void* C, cublasLtMatrixLayout_t Cdesc, void* D,
                              cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              size_t workspaceSizeInBytes, cudaStream_t stream) {
  constexpr const char* function = "cublasLtMatmul";
  if (const auto planted = planted_blas_failure(function)) return planted;
  if (!lightHandle || !computeDesc || !Adesc || !Bdesc || !Cdesc || !Ddesc || !alpha || !beta)
    return blas_status(function, CUBLAS_STATUS_INVALID_VALUE);
  LtCall call = call_of(computeDesc, Adesc, Bdesc, Cdesc, Ddesc);
  if (call.operation.pointer_mode != CUBLASLT_POINTER_MODE_HOST)
    return blas_status(function, CUBLAS_STATUS_NOT_SUPPORTED);
  call.alpha = *static_cast<const float*>(alpha);
  call.beta = *static_cast<const float*>(beta);
  call.a.data = const_cast<void*>(A);
  call.b.data = const_cast<void*>(B);
  call.c.data = const_cast<void*>(C);
  call.d.data = D;
  return blas_status(function, start_call(call, algo, workspace, workspaceSizeInBytes, stream));
}

}  // extern "C"
