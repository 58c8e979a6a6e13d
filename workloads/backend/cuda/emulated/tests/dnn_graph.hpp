// SPDX-License-Identifier: Apache-2.0
// Builds cuDNN graphs for tests through the backend API, and runs them on the emulated library.
#pragma once

#include <cudnn.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "workloads/backend/cuda/emulated/tests/device_buffer.hpp"

namespace gpusizer::emulated {

using Sizes = std::vector<int64_t>;

// Owns all descriptors that it makes.
class TestGraph {
 public:
  explicit TestGraph(cudnnHandle_t handle) : handle_(handle) {}
  TestGraph(const TestGraph&) = delete;
  TestGraph& operator=(const TestGraph&) = delete;
  ~TestGraph();

  struct Attribute {
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    std::vector<char> bytes;
    int64_t count;
  };
  template <class T>
  static Attribute attribute(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                             const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const char*>(values.data());
    return {name, type, std::vector<char>(bytes, bytes + values.size() * sizeof(T)),
            static_cast<int64_t>(values.size())};
  }
  static Attribute names(cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t descriptor) {
    return attribute<cudnnBackendDescriptor_t>(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, {descriptor});
  }

  cudnnBackendDescriptor_t make(cudnnBackendDescriptorType_t type, const std::vector<Attribute>& attributes);
  // Row-major strides unless given. The id is 1 for the first tensor, and so on.
  cudnnBackendDescriptor_t tensor(const Sizes& dims, const Sizes& strides = {}, cudnnDataType_t type = CUDNN_DATA_FLOAT,
                                  bool is_virtual = false, bool by_value = false);
  cudnnBackendDescriptor_t virtual_tensor(const Sizes& dims) { return tensor(dims, {}, CUDNN_DATA_FLOAT, true); }
  cudnnBackendDescriptor_t pointwise(cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t b,
                                     cudnnBackendDescriptor_t y, cudnnBackendDescriptor_t t = nullptr,
                                     int64_t axis = -1);

  // Plans the operations and runs them with pointers by the ids of tensors. Returns the first status that is not
  // success.
  cudnnStatus_t run(const std::vector<cudnnBackendDescriptor_t>& operations,
                    const std::vector<std::pair<int64_t, void*>>& pointers);
  // Configurations that the heuristic offers for the operations on a described device.
  int64_t offered(const std::vector<cudnnBackendDescriptor_t>& operations, const std::string& device_json);

 private:
  std::vector<cudnnBackendDescriptor_t> configurations(cudnnBackendDescriptor_t graph, int64_t* count);

  cudnnHandle_t handle_;
  int64_t next_id_ = 1;
  std::vector<cudnnBackendDescriptor_t> made_;
};

class Cudnn : public OnEmulatedDevice {
 protected:
  void SetUp() override;
  void TearDown() override;
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace gpusizer::emulated
