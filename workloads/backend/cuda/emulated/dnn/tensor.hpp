// SPDX-License-Identifier: Apache-2.0
// Tensors of a cuDNN graph while it is interpreted: any strides in memory, dense floats in between.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workloads/backend/cuda/emulated/dnn/descriptor.hpp"
#include "workloads/backend/cuda/emulated/numbers/element.hpp"

namespace gpusizer::emulated {

using Dims = std::vector<int64_t>;
using Values = std::vector<float>;  // row-major over a tensor's dimensions

struct DnnTensor {
  Dims dims, strides;
  Element type = Element::unknown;
  int64_t id = 0;
  int64_t alignment = 1;
  bool is_virtual = false, by_value = false;

  int64_t count() const;
  size_t bytes() const;  // from the first element to one past the last
};

DnnTensor tensor_of(const DnnDescriptor& descriptor);
Element element_of_dnn(cudnnDataType_t type);

Values load(const DnnTensor& tensor, const void* from);
void store(const DnnTensor& tensor, void* to, const Values& values);

// Calls visit(position, index) for every index of `dims`, in row-major order.
void for_each_index(const Dims& dims, const std::function<void(int64_t, const Dims&)>& visit);
int64_t product_of(const Dims& dims);
// The row-major position in a tensor of `dims` of an index into a larger one: dimensions of size 1 are repeated, and
// those that divide the larger one's serve several of its entries (heads that share keys).
int64_t broadcast_position(const Dims& dims, const Dims& index, const Dims& larger);

// The tensors of a running graph by their ids.
class GraphValues {
 public:
  explicit GraphValues(std::map<int64_t, void*> pointers) : pointers_(std::move(pointers)) {}

  bool has(const DnnTensor& tensor) const;  // readable: in memory, or computed
  const Values& get(const DnnTensor& tensor);
  void put(const DnnTensor& tensor, Values values);

 private:
  std::map<int64_t, void*> pointers_;
  std::map<int64_t, Values> values_;
};

// Throws std::runtime_error with what is not emulated.
void run_operation(const DnnDescriptor& operation, GraphValues& values);
void run_convolution(const DnnDescriptor& operation, GraphValues& values);
void run_pointwise(const DnnDescriptor& operation, GraphValues& values);
void run_matmul(const DnnDescriptor& operation, GraphValues& values);
void run_reduction(const DnnDescriptor& operation, GraphValues& values);
void run_resample(const DnnDescriptor& operation, GraphValues& values);
void run_resample_backward(const DnnDescriptor& operation, GraphValues& values);
void run_norm(const DnnDescriptor& operation, GraphValues& values);
void run_norm_backward(const DnnDescriptor& operation, GraphValues& values);
void run_reshape(const DnnDescriptor& operation, GraphValues& values);
void run_rng(const DnnDescriptor& operation, GraphValues& values);

// Tensors that an operation reads and writes.
std::vector<DnnTensor> inputs_of(const DnnDescriptor& operation);
std::vector<DnnTensor> outputs_of(const DnnDescriptor& operation);

}  // namespace gpusizer::emulated
