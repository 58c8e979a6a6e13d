// SPDX-License-Identifier: Apache-2.0
// The operations of cuDNN graphs that are emulated: who computes them, and which of their tensors they write.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"

namespace gpusizer::emulated {
namespace {

struct KnownOperation {
  cudnnBackendDescriptorType_t type;
  void (*run)(const DnnDescriptor&, GraphValues&);
  std::vector<int> outputs;  // the attributes that name them
};

const std::vector<KnownOperation>& known_operations() {
  static const std::vector<KnownOperation> known = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       run_convolution,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       run_convolution,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       run_convolution,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW}},
      {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       run_pointwise,
       {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC}},
      {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, run_matmul, {CUDNN_ATTR_OPERATION_MATMUL_CDESC}},
      {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, run_reduction, {CUDNN_ATTR_OPERATION_REDUCTION_YDESC}},
      {CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR,
       run_resample,
       {CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC}},
      {CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR,
       run_resample_backward,
       {CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC}},
      {CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
       run_norm,
       {CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC,
        CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC}},
      {CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
       run_norm_backward,
       {CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC,
        CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC}},
      {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, run_reshape, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC}},
      {CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, run_rng, {CUDNN_ATTR_OPERATION_RNG_YDESC}},
  };
  return known;
}

const KnownOperation& known_operation(const DnnDescriptor& operation) {
  for (const KnownOperation& known : known_operations())
    if (known.type == operation.type) return known;
  throw std::runtime_error("operations of type " + std::to_string(operation.type) + " are not emulated");
}

bool is_gradient_mode(const DnnDescriptor& operation) { return operation.has(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC); }

bool writes(const DnnDescriptor& operation, const KnownOperation& known, int name) {
  // The forward output is an input of the gradient of a pointwise operation.
  if (name == CUDNN_ATTR_OPERATION_POINTWISE_YDESC && is_gradient_mode(operation)) return false;
  const bool training_norm =
      operation.type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR &&
      operation.value<cudnnBackendNormFwdPhase_t>(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE) == CUDNN_NORM_FWD_TRAINING;
  if (training_norm &&
      (name == CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC || name == CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC))
    return true;
  return std::find(known.outputs.begin(), known.outputs.end(), name) != known.outputs.end();
}

std::vector<DnnTensor> tensors(const DnnDescriptor& operation, bool outputs) {
  const KnownOperation& known = known_operation(operation);
  std::vector<DnnTensor> found;
  for (const auto& [name, attribute] : operation.attributes)
    for (const DnnPointer& descriptor : attribute.descriptors)
      if (descriptor->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR && writes(operation, known, name) == outputs)
        found.push_back(tensor_of(*descriptor));
  return found;
}

}  // namespace

std::vector<DnnTensor> inputs_of(const DnnDescriptor& operation) { return tensors(operation, false); }

std::vector<DnnTensor> outputs_of(const DnnDescriptor& operation) { return tensors(operation, true); }

void run_operation(const DnnDescriptor& operation, GraphValues& values) {
  known_operation(operation).run(operation, values);
}

}  // namespace gpusizer::emulated
