// SPDX-License-Identifier: Apache-2.0
// One call of cublasLtMatmul: read from its descriptors, checked, and computed with its epilogue.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "workloads/backend/cuda/emulated/blas/lt_description.hpp"

namespace gpusizer::emulated {
namespace {

// Bits of cublasLtEpilogue_t.
constexpr uint32_t relu = 2, bias = 4, relu_backward = 8, bias_gradient = 16, gelu = 32, gelu_backward = 64, aux = 128,
                   gradient_of_a = 256, gradient_of_b = 512;

Matrix matrix_of(const LtLayout& layout, bool transposed) {
  return {nullptr,
          element_of(static_cast<cudaDataType>(layout.type)),
          static_cast<int64_t>(layout.rows),
          static_cast<int64_t>(layout.columns),
          layout.leading,
          layout.stride,
          layout.batch,
          transposed};
}

// cublasLt's GELU is the approximation by tanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
constexpr float cubic = 0.044715f;
const float root = std::sqrt(2.0f / std::numbers::pi_v<float>);

float gelu_by_tanh(float x) { return 0.5f * x * (1.0f + std::tanh(root * (x + cubic * x * x * x))); }

float gelu_slope(float x) {
  const float t = std::tanh(root * (x + cubic * x * x * x));
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * root * (1.0f + 3.0f * cubic * x * x);
}

void put_bit(void* bits, int64_t index, bool value) {
  auto& byte = static_cast<uint8_t*>(bits)[index / 8];
  const auto mask = static_cast<uint8_t>(1u << (index % 8));
  byte = static_cast<uint8_t>(value ? byte | mask : byte & ~mask);
}

bool get_bit(const void* bits, int64_t index) {
  return static_cast<const uint8_t*>(bits)[index / 8] >> (index % 8) & 1u;
}

// The bytes of one batch entry's bias and auxiliary matrix.
char* bias_of(const LtCall& call, int64_t which) {
  return static_cast<char*>(call.operation.bias) +
         which * call.operation.bias_stride * static_cast<int64_t>(element_bytes(call.bias_element));
}

char* aux_of(const LtCall& call, int64_t which) {
  const bool bits = (call.operation.epilogue & (relu | relu_backward)) != 0;
  const int64_t elements = which * call.operation.aux_stride;
  return static_cast<char*>(call.operation.aux) +
         (bits ? elements / 8 : elements * static_cast<int64_t>(element_bytes(call.aux_element)));
}

float finish(const LtCall& call, float value, int64_t which, int64_t row, int64_t column) {
  const uint32_t epilogue = call.operation.epilogue;
  const int64_t at = row + column * call.operation.aux_leading;
  if (epilogue & bias) value += read_element(call.bias_element, bias_of(call, which), row);
  if (epilogue & relu) {
    if (epilogue & aux) put_bit(aux_of(call, which), at, value > 0);
    value = std::max(value, 0.0f);
  }
  if (epilogue & gelu) {
    if (epilogue & aux) write_element(call.aux_element, aux_of(call, which), at, value);
    value = gelu_by_tanh(value);
  }
  if (epilogue & relu_backward) value = get_bit(aux_of(call, which), at) ? value : 0.0f;
  if (epilogue & gelu_backward) value *= gelu_slope(read_element(call.aux_element, aux_of(call, which), at));
  return value;
}

// The gradient of a bias: the sum of op(A) along its rows, or of op(B) along its columns.
void sum_operand(const LtCall& call, int64_t which) {
  const bool of_a = (call.operation.epilogue & gradient_of_a) != 0;
  const Matrix m = of_a ? call.a.at(which) : call.b.at(which);
  const int64_t count = of_a ? m.used_rows() : m.used_columns(), depth = of_a ? m.used_columns() : m.used_rows();
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int64_t p = 0; p < depth; ++p) {
      const bool first = of_a != m.transposed;
      sum += read_element(m.type, m.data, first ? m.index(i, p) : m.index(p, i));
    }
    write_element(call.bias_element, bias_of(call, which), i, sum);
  }
}

void run_one(const LtCall& call, int64_t which) {
  const Matrix c = call.c.at(which), d = call.d.at(which);
  const std::vector<float> sums = product(call.a.at(which), call.b.at(which), call.tf32);
  std::vector<float> row_sums(static_cast<size_t>(d.rows), 0.0f);
  for (int64_t column = 0; column < d.columns; ++column)
    for (int64_t row = 0; row < d.rows; ++row) {
      const float before = call.beta == 0 ? 0 : call.beta * read_element(c.type, c.data, c.index(row, column));
      const float sum = call.alpha * sums[static_cast<size_t>(column * d.rows + row)] + before;
      const float value = finish(call, sum, which, row, column);
      row_sums[static_cast<size_t>(row)] += value;
      write_element(d.type, d.data, d.index(row, column), value);
    }
  if (call.operation.epilogue & (gradient_of_a | gradient_of_b)) sum_operand(call, which);
  if (call.operation.epilogue & bias_gradient)
    for (int64_t row = 0; row < d.rows; ++row)
      write_element(call.bias_element, bias_of(call, which), row, row_sums[static_cast<size_t>(row)]);
}

bool known_epilogue(uint32_t e) {
  constexpr uint32_t known[] = {
      CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_RELU_AUX,
      CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU,
      CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_BIAS,   CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
      CUBLASLT_EPILOGUE_BGRADB};
  return std::find(std::begin(known), std::end(known), e) != std::end(known);
}

cublasStatus_t check_shapes(const LtCall& call) {
  const bool fits = call.a.used_rows() == call.d.rows && call.b.used_columns() == call.d.columns &&
                    call.a.used_columns() == call.b.used_rows() && call.c.rows == call.d.rows &&
                    call.c.columns == call.d.columns && call.d.rows > 0 && call.d.columns > 0;
  if (!fits) return CUBLAS_STATUS_INVALID_VALUE;
  for (const Matrix* m : {&call.a, &call.b, &call.c, &call.d})
    if (m->leading < m->rows || m->batch != call.d.batch || m->batch < 1) return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_types(const LtCall& call) {
  const Element ab = call.a.type, d = call.d.type;
  const cublasComputeType_t compute = call.operation.compute;
  const bool fast = compute == CUBLAS_COMPUTE_32F_FAST_TF32 || compute == CUBLAS_COMPUTE_32F_FAST_16BF ||
                    compute == CUBLAS_COMPUTE_32F_FAST_16F;
  const bool sums = compute == CUBLAS_COMPUTE_32F || compute == CUBLAS_COMPUTE_32F_PEDANTIC || fast;
  const bool types = ab == call.b.type && (ab == Element::f32 || ab == Element::f16 || ab == Element::bf16) &&
                     call.c.type == d && (d == ab || d == Element::f32);
  const bool used_right = sums && call.operation.scale_type == CUDA_R_32F && !(fast && ab != Element::f32) &&
                          call.operation.transpose_c == CUBLAS_OP_N;
  return types && used_right ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

// Masks are bits whose leading dimension is a multiple of 128, values of 8.
cublasStatus_t check_epilogue(const LtCall& call) {
  const LtOperation& o = call.operation;
  if (!known_epilogue(o.epilogue)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool needs_bias = (o.epilogue & (bias | bias_gradient | gradient_of_a | gradient_of_b)) != 0;
  if (needs_bias && call.bias_element != call.d.type && call.bias_element != call.a.type &&
      call.bias_element != Element::f32)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!(o.epilogue & aux)) return CUBLAS_STATUS_SUCCESS;
  const int64_t multiple = o.epilogue & (relu | relu_backward) ? 128 : 8;
  if (o.aux_leading < call.d.rows || o.aux_leading % multiple != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

LtCall read_call(const LtOperation& operation, const LtLayout& a, const LtLayout& b, const LtLayout& c,
                 const LtLayout& d) {
  LtCall call{matrix_of(a, operation.transpose_a != CUBLAS_OP_N), matrix_of(b, operation.transpose_b != CUBLAS_OP_N),
              matrix_of(c, false), matrix_of(d, false), operation};
  call.tf32 = operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const auto or_d = [&](int32_t type) { return type < 0 ? call.d.type : element_of(static_cast<cudaDataType>(type)); };
  call.bias_element = or_d(operation.bias_type);
  call.aux_element = or_d(operation.aux_type);
  return call;
}

cublasStatus_t check_call(const LtCall& call) {
  if (const auto status = check_shapes(call)) return status;
  if (const auto status = check_types(call)) return status;
  return check_epilogue(call);
}

void run_call(const LtCall& call) {
  for (int64_t which = 0; which < call.d.batch; ++which) run_one(call, which);
}

uint64_t shape_of(const LtCall& call) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto mix = [&](int64_t value) { hash = (hash ^ static_cast<uint64_t>(value)) * 1099511628211u; };
  for (const Matrix* m : {&call.a, &call.b, &call.d}) {
    mix(m->rows);
    mix(m->columns);
    mix(static_cast<int64_t>(m->type));
    mix(m->transposed);
  }
  mix(call.operation.epilogue);
  mix(call.operation.compute);
  return hash;
}

}  // namespace gpusizer::emulated
