// SPDX-License-Identifier: Apache-2.0
// The descriptors of cuDNN's older functions that the RNN functions still take: tensors, dropout, RNN and its data.
#include "workloads/backend/cuda/emulated/dnn/descriptor.hpp"
#include "workloads/backend/cuda/emulated/dnn/recurrent.hpp"

using namespace gpusizer::emulated;

extern "C" {

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensorDesc) {
  *tensorDesc = new cudnnTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc, cudnnDataType_t dataType, int nbDims,
                                         const int dimA[], const int strideA[]) {
  if (!tensorDesc || nbDims < 1 || nbDims > CUDNN_DIM_MAX)
    return dnn_status("cudnnSetTensorNdDescriptor", CUDNN_STATUS_BAD_PARAM, "1 to 8 dimensions");
  *tensorDesc = {dataType, {dimA, dimA + nbDims}, {strideA, strideA + nbDims}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensorDesc, int nbDimsRequested,
                                         cudnnDataType_t* dataType, int* nbDims, int dimA[], int strideA[]) {
  *dataType = tensorDesc->type;
  *nbDims = static_cast<int>(tensorDesc->dims.size());
  for (int i = 0; i < nbDimsRequested && i < *nbDims; ++i) {
    dimA[i] = tensorDesc->dims[static_cast<size_t>(i)];
    strideA[i] = tensorDesc->strides[static_cast<size_t>(i)];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensorDesc) {
  delete tensorDesc;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* dropoutDesc) {
  *dropoutDesc = new cudnnDropoutStruct;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, size_t* sizeInBytes) {
  *sizeInBytes = 1024;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc, cudnnHandle_t, float dropout, void*,
                                        size_t, unsigned long long) {
  dropoutDesc->probability = dropout;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc) {
  delete dropoutDesc;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* rnnDesc) {
  *rnnDesc = new cudnnRNNStruct;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnnDesc) {
  delete rnnDesc;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* rnnDataDesc) {
  *rnnDataDesc = new cudnnRNNDataStruct;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc) {
  delete rnnDataDesc;
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
