// SPDX-License-Identifier: Apache-2.0
// cublasLt's descriptors as they are kept here: inside the opaque structs of its header, which callers may also own.
#pragma once

#include <cublasLt.h>

#include <cstring>

#include "workloads/backend/cuda/emulated/blas/matrix.hpp"

namespace gpusizer::emulated {

struct LtOperation {
  cublasComputeType_t compute;
  cudaDataType_t scale_type;
  int32_t pointer_mode, transpose_a, transpose_b, transpose_c;
  uint32_t epilogue;
  int32_t bias_type, aux_type;  // -1: that of D
  void* bias;
  int64_t bias_stride;
  void* aux;
  int64_t aux_leading, aux_stride;
};

struct LtLayout {
  uint32_t type;
  int32_t order, batch;
  uint64_t rows, columns;
  int64_t leading, stride;
};

struct LtPreference {
  uint64_t workspace_bytes;
  uint32_t alignment[4];  // of A, B, C, D in bytes
};

// What a heuristic hands out and cublasLtMatmul() is given back.
struct LtAlgorithm {
  uint64_t magic;  // tells one of ours from memory that nobody set
  int32_t id;
  uint32_t alignment[4];
  uint64_t workspace_bytes;
  uint64_t shape;  // of the problem that it was chosen for
};
constexpr uint64_t lt_magic = 0x67707573697a6572u;

template <class Kept, class Opaque>
Kept& kept_in(Opaque* opaque) {
  static_assert(sizeof(Kept) <= sizeof(Opaque));
  return *reinterpret_cast<Kept*>(opaque);
}

// One call of cublasLtMatmul, read from its descriptors.
struct LtCall {
  Matrix a, b, c, d;
  LtOperation operation;
  float alpha = 1, beta = 0;
  bool tf32 = false;
  Element bias_element = Element::unknown, aux_element = Element::unknown;
};

LtCall read_call(const LtOperation& operation, const LtLayout& a, const LtLayout& b, const LtLayout& c,
                 const LtLayout& d);
// Invalid value for shapes that do not fit, not supported for types and epilogues that cublasLt lacks.
cublasStatus_t check_call(const LtCall& call);
void run_call(const LtCall& call);
// A number that differs between problems.
uint64_t shape_of(const LtCall& call);

}  // namespace gpusizer::emulated
