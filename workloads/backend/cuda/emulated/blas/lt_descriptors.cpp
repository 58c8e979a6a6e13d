// SPDX-License-Identifier: Apache-2.0
// Creating cublasLt's descriptors, and setting and reading their attributes, each with the size that its header states.
#include <algorithm>
#include <map>

#include "workloads/backend/cuda/emulated/blas/lt_description.hpp"

namespace gpusizer::emulated {
namespace {

struct Field {
  size_t offset, bytes;
};

#define GPUSIZER_FIELD(Struct, member) \
  Field { offsetof(Struct, member), sizeof(Struct::member) }

const std::map<int, Field>& operation_fields() {
  static const std::map<int, Field> fields = {
      {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, GPUSIZER_FIELD(LtOperation, compute)},
      {CUBLASLT_MATMUL_DESC_SCALE_TYPE, GPUSIZER_FIELD(LtOperation, scale_type)},
      {CUBLASLT_MATMUL_DESC_POINTER_MODE, GPUSIZER_FIELD(LtOperation, pointer_mode)},
      {CUBLASLT_MATMUL_DESC_TRANSA, GPUSIZER_FIELD(LtOperation, transpose_a)},
      {CUBLASLT_MATMUL_DESC_TRANSB, GPUSIZER_FIELD(LtOperation, transpose_b)},
      {CUBLASLT_MATMUL_DESC_TRANSC, GPUSIZER_FIELD(LtOperation, transpose_c)},
      {CUBLASLT_MATMUL_DESC_EPILOGUE, GPUSIZER_FIELD(LtOperation, epilogue)},
      {CUBLASLT_MATMUL_DESC_BIAS_POINTER, GPUSIZER_FIELD(LtOperation, bias)},
      {CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, GPUSIZER_FIELD(LtOperation, bias_stride)},
      {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, GPUSIZER_FIELD(LtOperation, bias_type)},
      {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, GPUSIZER_FIELD(LtOperation, aux)},
      {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, GPUSIZER_FIELD(LtOperation, aux_leading)},
      {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, GPUSIZER_FIELD(LtOperation, aux_stride)},
      {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, GPUSIZER_FIELD(LtOperation, aux_type)},
  };
  return fields;
}

const std::map<int, Field>& layout_fields() {
  static const std::map<int, Field> fields = {
      {CUBLASLT_MATRIX_LAYOUT_TYPE, GPUSIZER_FIELD(LtLayout, type)},
      {CUBLASLT_MATRIX_LAYOUT_ORDER, GPUSIZER_FIELD(LtLayout, order)},
      {CUBLASLT_MATRIX_LAYOUT_ROWS, GPUSIZER_FIELD(LtLayout, rows)},
      {CUBLASLT_MATRIX_LAYOUT_COLS, GPUSIZER_FIELD(LtLayout, columns)},
      {CUBLASLT_MATRIX_LAYOUT_LD, GPUSIZER_FIELD(LtLayout, leading)},
      {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, GPUSIZER_FIELD(LtLayout, batch)},
      {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, GPUSIZER_FIELD(LtLayout, stride)},
  };
  return fields;
}

const std::map<int, Field>& preference_fields() {
  static const std::map<int, Field> fields = {
      {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, GPUSIZER_FIELD(LtPreference, workspace_bytes)},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, GPUSIZER_FIELD(LtPreference, alignment[0])},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Field{offsetof(LtPreference, alignment) + 4, 4}},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, Field{offsetof(LtPreference, alignment) + 8, 4}},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, Field{offsetof(LtPreference, alignment) + 12, 4}},
  };
  return fields;
}

#undef GPUSIZER_FIELD

cublasStatus_t set_field(const char* function, void* descriptor, const std::map<int, Field>& fields, int attribute,
                         const void* from, size_t bytes) {
  const auto field = fields.find(attribute);
  if (field == fields.end()) return blas_status(function, CUBLAS_STATUS_NOT_SUPPORTED);
  if (!descriptor || !from || bytes != field->second.bytes) return blas_status(function, CUBLAS_STATUS_INVALID_VALUE);
  std::memcpy(static_cast<char*>(descriptor) + field->second.offset, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t get_field(const char* function, const void* descriptor, const std::map<int, Field>& fields,
                         int attribute, void* to, size_t bytes, size_t* written) {
  const auto field = fields.find(attribute);
  if (field == fields.end()) return blas_status(function, CUBLAS_STATUS_NOT_SUPPORTED);
  if (written) *written = field->second.bytes;
  if (!descriptor || (to && bytes < field->second.bytes)) return blas_status(function, CUBLAS_STATUS_INVALID_VALUE);
  if (to) std::memcpy(to, static_cast<const char*>(descriptor) + field->second.offset, field->second.bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Kept, class Opaque>
cublasStatus_t fill_in(Opaque* opaque, size_t bytes, const Kept& kept) {
  if (!opaque || bytes < sizeof(Opaque)) return blas_status("cublasLt", CUBLAS_STATUS_INVALID_VALUE);
  *opaque = {};
  kept_in<Kept>(opaque) = kept;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t matmulDesc, size_t size,
                                               cublasComputeType_t computeType, cudaDataType_t scaleType) {
  return fill_in(matmulDesc, size,
                 LtOperation{computeType, scaleType, CUBLASLT_POINTER_MODE_HOST, CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_OP_N,
                             CUBLASLT_EPILOGUE_DEFAULT, -1, -1, nullptr, 0, nullptr, 0, 0});
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmulDesc, cublasComputeType_t computeType,
                                        cudaDataType_t scaleType) {
  *matmulDesc = new cublasLtMatmulDescOpaque_t;
  return cublasLtMatmulDescInit_internal(*matmulDesc, sizeof **matmulDesc, computeType, scaleType);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmulDesc) {
  delete matmulDesc;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmulDesc, cublasLtMatmulDescAttributes_t attr,
                                              const void* buf, size_t sizeInBytes) {
  return set_field("cublasLtMatmulDescSetAttribute", matmulDesc, operation_fields(), attr, buf, sizeInBytes);
}

cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t matmulDesc, cublasLtMatmulDescAttributes_t attr,
                                              void* buf, size_t sizeInBytes, size_t* sizeWritten) {
  return get_field("cublasLtMatmulDescGetAttribute", matmulDesc, operation_fields(), attr, buf, sizeInBytes,
                   sizeWritten);
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t matLayout, size_t size, cudaDataType type,
                                                 uint64_t rows, uint64_t cols, int64_t ld) {
  return fill_in(matLayout, size, LtLayout{static_cast<uint32_t>(type), CUBLASLT_ORDER_COL, 1, rows, cols, ld, 0});
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* matLayout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
  *matLayout = new cublasLtMatrixLayoutOpaque_t;
  return cublasLtMatrixLayoutInit_internal(*matLayout, sizeof **matLayout, type, rows, cols, ld);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matLayout) {
  delete matLayout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matLayout, cublasLtMatrixLayoutAttribute_t attr,
                                                const void* buf, size_t sizeInBytes) {
  return set_field("cublasLtMatrixLayoutSetAttribute", matLayout, layout_fields(), attr, buf, sizeInBytes);
}

cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t matLayout, cublasLtMatrixLayoutAttribute_t attr,
                                                void* buf, size_t sizeInBytes, size_t* sizeWritten) {
  return get_field("cublasLtMatrixLayoutGetAttribute", matLayout, layout_fields(), attr, buf, sizeInBytes, sizeWritten);
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t pref, size_t size) {
  return fill_in(pref, size, LtPreference{0, {256, 256, 256, 256}});
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* pref) {
  *pref = new cublasLtMatmulPreferenceOpaque_t;
  return cublasLtMatmulPreferenceInit_internal(*pref, sizeof **pref);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref) {
  delete pref;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref,
                                                    cublasLtMatmulPreferenceAttributes_t attr, const void* buf,
                                                    size_t sizeInBytes) {
  return set_field("cublasLtMatmulPreferenceSetAttribute", pref, preference_fields(), attr, buf, sizeInBytes);
}

}  // extern "C"
