// SPDX-License-Identifier: Apache-2.0
// Reading the attributes of cuDNN descriptors, and what each kind must have before it is finalized.
#include "workloads/backend/cuda/emulated/dnn/descriptor.hpp"

#include <algorithm>

namespace gpusizer::emulated {
namespace {

using Names = std::vector<int>;

// The attributes without which the real library does not finalize a descriptor of the kind.
const std::map<int, Names>& required_attributes() {
  static const std::map<int, Names> required = {
      {CUDNN_BACKEND_TENSOR_DESCRIPTOR,
       {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_ATTR_TENSOR_STRIDES,
        CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT}},
      {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
       {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
        CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
        CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_ATTR_CONVOLUTION_DILATIONS}},
      {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, {CUDNN_ATTR_POINTWISE_MODE, CUDNN_ATTR_POINTWISE_MATH_PREC}},
      {CUDNN_BACKEND_MATMUL_DESCRIPTOR, {CUDNN_ATTR_MATMUL_COMP_TYPE}},
      {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, {CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_ATTR_REDUCTION_COMP_TYPE}},
      {CUDNN_BACKEND_RESAMPLE_DESCRIPTOR,
       {CUDNN_ATTR_RESAMPLE_MODE, CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS,
        CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, CUDNN_ATTR_RESAMPLE_POST_PADDINGS, CUDNN_ATTR_RESAMPLE_STRIDES,
        CUDNN_ATTR_RESAMPLE_WINDOW_DIMS}},
      {CUDNN_BACKEND_RNG_DESCRIPTOR, {CUDNN_ATTR_RNG_DISTRIBUTION}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC}},
      {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR}},
      {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_ATTR_OPERATION_MATMUL_CDESC,
        CUDNN_ATTR_OPERATION_MATMUL_DESC}},
      {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_ATTR_OPERATION_REDUCTION_YDESC,
        CUDNN_ATTR_OPERATION_REDUCTION_DESC}},
      {CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC,
        CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC}},
      {CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC,
        CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC}},
      {CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC,
        CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC}},
      {CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC,
        CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC}},
      {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_RESHAPE_XDESC, CUDNN_ATTR_OPERATION_RESHAPE_YDESC}},
      {CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, {CUDNN_ATTR_OPERATION_RNG_YDESC, CUDNN_ATTR_OPERATION_RNG_DESC}},
      {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, {CUDNN_ATTR_OPERATIONGRAPH_OPS}},
      {CUDNN_BACKEND_ENGINE_DESCRIPTOR, {CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_ATTR_ENGINE_GLOBAL_INDEX}},
      {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, {CUDNN_ATTR_ENGINECFG_ENGINE}},
      {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_ATTR_ENGINEHEUR_MODE}},
      {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG}},
      {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
       {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS}},
      {CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, {}},
  };
  return required;
}

std::string wrong_tensor(const DnnDescriptor& tensor) {
  const auto dims = tensor.list<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto strides = tensor.list<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  if (dims.size() != strides.size() || dims.empty()) return "as many strides as dimensions";
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 1; })) return "dimensions of at least 1";
  if (std::any_of(strides.begin(), strides.end(), [](int64_t s) { return s < 0; })) return "strides that are positive";
  return "";
}

}  // namespace

double DnnDescriptor::number(int name, double otherwise) const {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return otherwise;
  return found->second.type == CUDNN_TYPE_DOUBLE ? value<double>(name) : static_cast<double>(value<float>(name));
}

std::vector<int64_t> DnnDescriptor::whole(int name) const {
  const auto found = attributes.find(name);
  if (found == attributes.end() || found->second.type != CUDNN_TYPE_FRACTION) return list<int64_t>(name);
  std::vector<int64_t> values;
  for (const cudnnFraction_t& f : list<cudnnFraction_t>(name)) values.push_back(f.numerator / f.denominator);
  return values;
}

const std::vector<DnnPointer>& DnnDescriptor::descriptors(int name) const {
  static const std::vector<DnnPointer> none;
  const auto found = attributes.find(name);
  return found == attributes.end() ? none : found->second.descriptors;
}

DnnPointer DnnDescriptor::descriptor(int name) const {
  const auto& all = descriptors(name);
  return all.empty() ? nullptr : all.front();
}

std::string what_is_missing(const DnnDescriptor& descriptor) {
  const auto required = required_attributes().find(descriptor.type);
  if (required == required_attributes().end())
    return "an emulation of descriptors of type " + std::to_string(descriptor.type);
  for (const int name : required->second)
    if (!descriptor.has(name)) return "attribute " + std::to_string(name);
  return descriptor.type == CUDNN_BACKEND_TENSOR_DESCRIPTOR ? wrong_tensor(descriptor) : "";
}

}  // namespace gpusizer::emulated
