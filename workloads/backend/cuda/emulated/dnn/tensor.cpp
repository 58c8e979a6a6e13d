// SPDX-License-Identifier: Apache-2.0
// Loading, storing and indexing the tensors of a cuDNN graph.
#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"

#include <stdexcept>

namespace gpusizer::emulated {
namespace {

// Calls visit(position, offset) for every element of the tensor.
template <class Visit>
void for_each_offset(const DnnTensor& t, const Visit& visit) {
  const size_t rank = t.dims.size();
  Dims index(rank, 0);
  int64_t offset = 0;
  for (int64_t position = 0, count = t.count(); position < count; ++position) {
    visit(position, offset);
    for (size_t d = rank; d-- > 0;) {
      offset += t.strides[d];
      if (++index[d] < t.dims[d]) break;
      offset -= t.strides[d] * t.dims[d];
      index[d] = 0;
    }
  }
}

}  // namespace

int64_t product_of(const Dims& dims) {
  int64_t product = 1;
  for (const int64_t d : dims) product *= d;
  return product;
}

int64_t DnnTensor::count() const { return product_of(dims); }

size_t DnnTensor::bytes() const {
  int64_t last = 0;
  for (size_t d = 0; d < dims.size(); ++d) last += (dims[d] - 1) * strides[d];
  return static_cast<size_t>(last + 1) * element_bytes(type);
}

Element element_of_dnn(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_FLOAT:
      return Element::f32;
    case CUDNN_DATA_DOUBLE:
      return Element::f64;
    case CUDNN_DATA_HALF:
      return Element::f16;
    case CUDNN_DATA_BFLOAT16:
      return Element::bf16;
    case CUDNN_DATA_INT32:
      return Element::i32;
    case CUDNN_DATA_INT64:
      return Element::i64;
    case CUDNN_DATA_INT8:
      return Element::i8;
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_BOOLEAN:
      return Element::u8;
    default:
      return Element::unknown;
  }
}

DnnTensor tensor_of(const DnnDescriptor& d) {
  return {d.list<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
          d.list<int64_t>(CUDNN_ATTR_TENSOR_STRIDES),
          element_of_dnn(d.value<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)),
          d.value<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID),
          d.value<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1),
          d.value<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0,
          d.value<char>(CUDNN_ATTR_TENSOR_IS_BY_VALUE) != 0};
}

Values load(const DnnTensor& tensor, const void* from) {
  Values values(static_cast<size_t>(tensor.count()));
  for_each_offset(tensor, [&](int64_t position, int64_t offset) {
    values[static_cast<size_t>(position)] = read_element(tensor.type, from, offset);
  });
  return values;
}

void store(const DnnTensor& tensor, void* to, const Values& values) {
  for_each_offset(tensor, [&](int64_t position, int64_t offset) {
    write_element(tensor.type, to, offset, values[static_cast<size_t>(position)]);
  });
}

void for_each_index(const Dims& dims, const std::function<void(int64_t, const Dims&)>& visit) {
  Dims index(dims.size(), 0);
  for (int64_t position = 0, count = product_of(dims); position < count; ++position) {
    visit(position, index);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
}

int64_t broadcast_position(const Dims& dims, const Dims& index, const Dims& larger) {
  int64_t position = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    position = position * dims[d] + (dims[d] == larger[d] ? index[d] : index[d] * dims[d] / larger[d]);
  return position;
}

bool GraphValues::has(const DnnTensor& tensor) const {
  return values_.contains(tensor.id) || (!tensor.is_virtual && pointers_.contains(tensor.id));
}

const Values& GraphValues::get(const DnnTensor& tensor) {
  Values& values = values_[tensor.id];
  if (values.empty()) values = load(tensor, pointers_.at(tensor.id));
  if (values.size() != static_cast<size_t>(tensor.count()))
    throw std::runtime_error("tensor " + std::to_string(tensor.id) + " is used with two shapes");
  return values;
}

// What others read is what memory holds: rounded to its type.
void GraphValues::put(const DnnTensor& tensor, Values values) {
  if (!tensor.is_virtual) {
    store(tensor, pointers_.at(tensor.id), values);
    if (tensor.type != Element::f32) values = load(tensor, pointers_.at(tensor.id));
  }
  values_[tensor.id] = std::move(values);
}

}  // namespace gpusizer::emulated
