// SPDX-License-Identifier: Apache-2.0
// cuDNN's handles and versions.
#include "workloads/backend/cuda/emulated/dnn/descriptor.hpp"
#include "workloads/backend/cuda/emulated/runtime/task.hpp"

using namespace gpusizer::emulated;

extern "C" {

size_t cudnnGetVersion(void) { return CUDNN_VERSION; }
size_t cudnnGetMaxDeviceVersion(void) { return 1210; }
size_t cudnnGetCudartVersion(void) { return CUDART_VERSION; }
cudnnStatus_t cudnnGraphVersionCheck(void) { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnOpsVersionCheck(void) { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnAdvVersionCheck(void) { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnCnnVersionCheck(void) { return CUDNN_STATUS_SUCCESS; }

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (const int planted = planted_status("cudnnCreate"))
    return dnn_status("cudnnCreate", static_cast<cudnnStatus_t>(planted), "planted");
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t streamId) {
  handle->stream = streamId;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* streamId) {
  *streamId = handle->stream;
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
