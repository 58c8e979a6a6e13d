// SPDX-License-Identifier: Apache-2.0
// Matrix products and reductions of cuDNN graphs.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"
#include "workloads/backend/cuda/emulated/numbers/product.hpp"

namespace gpusizer::emulated {
namespace {

Dims batch_dims(const DnnTensor& t) { return Dims(t.dims.begin(), t.dims.end() - 2); }

double start_value(cudnnReduceTensorOp_t op) {
  switch (op) {
    case CUDNN_REDUCE_TENSOR_MUL:
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
      return 1;
    case CUDNN_REDUCE_TENSOR_MIN:
      return INFINITY;
    case CUDNN_REDUCE_TENSOR_MAX:
      return -INFINITY;
    default:
      return 0;
  }
}

double reduce_with(cudnnReduceTensorOp_t op, double so_far, double x) {
  switch (op) {
    case CUDNN_REDUCE_TENSOR_ADD:
    case CUDNN_REDUCE_TENSOR_AVG:
      return so_far + x;
    case CUDNN_REDUCE_TENSOR_MUL:
      return so_far * x;
    case CUDNN_REDUCE_TENSOR_MIN:
      return std::fmin(so_far, x);
    case CUDNN_REDUCE_TENSOR_MAX:
      return std::fmax(so_far, x);
    case CUDNN_REDUCE_TENSOR_AMAX:
      return std::fmax(so_far, std::fabs(x));
    case CUDNN_REDUCE_TENSOR_NORM1:
      return so_far + std::fabs(x);
    case CUDNN_REDUCE_TENSOR_NORM2:
      return so_far + x * x;
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
      return x == 0 ? so_far : so_far * x;
    default:
      throw std::runtime_error("this reduction is not emulated");
  }
}

void check_matmul(const DnnTensor& a, const DnnTensor& b, const DnnTensor& c) {
  const size_t rank = c.dims.size();
  if (rank < 2 || a.dims.size() != rank || b.dims.size() != rank)
    throw std::runtime_error("a matmul's tensors have different ranks");
  const bool fits = a.dims[rank - 2] == c.dims[rank - 2] && b.dims[rank - 1] == c.dims[rank - 1] &&
                    a.dims[rank - 1] == b.dims[rank - 2];
  if (!fits) throw std::runtime_error("a matmul's shapes do not fit");
}

}  // namespace

void run_matmul(const DnnDescriptor& op, GraphValues& values) {
  const DnnTensor a = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_MATMUL_ADESC));
  const DnnTensor b = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_MATMUL_BDESC));
  const DnnTensor c = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_MATMUL_CDESC));
  check_matmul(a, b, c);
  const size_t rank = c.dims.size();
  const int64_t m = c.dims[rank - 2], n = c.dims[rank - 1], k = a.dims[rank - 1];
  const Values &left = values.get(a), &right = values.get(b);
  Values result(static_cast<size_t>(c.count()));
  for_each_index(batch_dims(c), [&](int64_t which, const Dims& index) {
    const float* la = left.data() + broadcast_position(batch_dims(a), index, batch_dims(c)) * m * k;
    const float* rb = right.data() + broadcast_position(batch_dims(b), index, batch_dims(c)) * k * n;
    // The product is stored by columns of its left side: swapped, that is row-major.
    const Values rows =
        inner_products(pack_vectors(n, k, left_tile, [&](int64_t column, int64_t p) { return rb[p * n + column]; }),
                       pack_vectors(m, k, right_tile, [&](int64_t row, int64_t p) { return la[row * k + p]; }));
    std::copy(rows.begin(), rows.end(), result.begin() + which * m * n);
  });
  values.put(c, std::move(result));
}

void run_reduction(const DnnDescriptor& op, GraphValues& values) {
  const DnnTensor x = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC));
  const DnnTensor y = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC));
  const auto kind =
      op.descriptor(CUDNN_ATTR_OPERATION_REDUCTION_DESC)->value<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
  if (x.dims.size() != y.dims.size()) throw std::runtime_error("a reduction keeps the rank");
  std::vector<double> sums(static_cast<size_t>(y.count()), start_value(kind));
  const Values& from = values.get(x);
  for_each_index(x.dims, [&](int64_t i, const Dims& index) {
    double& sum = sums[static_cast<size_t>(broadcast_position(y.dims, index, x.dims))];
    sum = reduce_with(kind, sum, static_cast<double>(from[static_cast<size_t>(i)]));
  });
  Values result(sums.size());
  const auto each = static_cast<double>(x.count()) / static_cast<double>(y.count());
  for (size_t i = 0; i < sums.size(); ++i) {
    if (kind == CUDNN_REDUCE_TENSOR_AVG) sums[i] /= each;
    if (kind == CUDNN_REDUCE_TENSOR_NORM2) sums[i] = std::sqrt(sums[i]);
    result[i] = static_cast<float>(sums[i]);
  }
  values.put(y, std::move(result));
}

}  // namespace gpusizer::emulated
