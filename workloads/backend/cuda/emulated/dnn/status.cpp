// SPDX-License-Identifier: Apache-2.0
// The statuses of cuDNN: their names, the last message of each thread, and errors that nobody asked about.
#include <algorithm>
#include <array>
#include <cstdio>

#include "workloads/backend/cuda/emulated/dnn/descriptor.hpp"
#include "workloads/backend/cuda/emulated/runtime/task.hpp"

namespace gpusizer::emulated {
namespace {

struct DnnStatusName {
  cudnnStatus_t status;
  const char* name;
};

constexpr std::array<DnnStatusName, 11> dnn_names = {{
    {CUDNN_STATUS_SUCCESS, "CUDNN_STATUS_SUCCESS"},
    {CUDNN_STATUS_NOT_INITIALIZED, "CUDNN_STATUS_NOT_INITIALIZED"},
    {CUDNN_STATUS_BAD_PARAM, "CUDNN_STATUS_BAD_PARAM"},
    {CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "CUDNN_STATUS_BAD_PARAM_NULL_POINTER"},
    {CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED"},
    {CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH"},
    {CUDNN_STATUS_NOT_SUPPORTED, "CUDNN_STATUS_NOT_SUPPORTED"},
    {CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN"},
    {CUDNN_STATUS_EXECUTION_FAILED, "CUDNN_STATUS_EXECUTION_FAILED"},
    {CUDNN_STATUS_ALLOC_FAILED, "CUDNN_STATUS_ALLOC_FAILED"},
    {CUDNN_STATUS_INTERNAL_ERROR, "CUDNN_STATUS_INTERNAL_ERROR"},
}};

std::string& last_dnn_message() {
  thread_local std::string message;
  return message;
}

}  // namespace

const char* dnn_status_name(cudnnStatus_t status) {
  const auto* found =
      std::find_if(dnn_names.begin(), dnn_names.end(), [&](const DnnStatusName& n) { return n.status == status; });
  return found == dnn_names.end() ? dnn_names.back().name : found->name;
}

cudnnStatus_t dnn_status(const char* function, cudnnStatus_t status, const std::string& message) {
  if (status == CUDNN_STATUS_SUCCESS) return status;
  last_dnn_message() = message;
  if (CUDNN_STATUS_CATEGORY(status) != CUDNN_STATUS_NOT_SUPPORTED)
    note_returned_error(function, status, dnn_status_name(status));
  return status;
}

}  // namespace gpusizer::emulated

extern "C" {

const char* cudnnGetErrorString(cudnnStatus_t status) {
  gpusizer::emulated::note_asked(gpusizer::emulated::dnn_status_name(status));
  return gpusizer::emulated::dnn_status_name(status);
}

void cudnnGetLastErrorString(char* message, size_t max_size) {
  if (message && max_size) std::snprintf(message, max_size, "%s", gpusizer::emulated::last_dnn_message().c_str());
}

}  // extern "C"
