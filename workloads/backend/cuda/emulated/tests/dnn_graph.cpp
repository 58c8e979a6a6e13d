// SPDX-License-Identifier: Apache-2.0
// Builds and runs cuDNN graphs for tests.
#include "workloads/backend/cuda/emulated/tests/dnn_graph.hpp"

namespace gpusizer::emulated {

TestGraph::~TestGraph() {
  for (const auto descriptor : made_) cudnnBackendDestroyDescriptor(descriptor);
}

cudnnBackendDescriptor_t TestGraph::make(cudnnBackendDescriptorType_t type, const std::vector<Attribute>& attributes) {
  cudnnBackendDescriptor_t descriptor = nullptr;
  EXPECT_EQ(cudnnBackendCreateDescriptor(type, &descriptor), CUDNN_STATUS_SUCCESS);
  made_.push_back(descriptor);
  for (const Attribute& a : attributes)
    EXPECT_EQ(cudnnBackendSetAttribute(descriptor, a.name, a.type, a.count, a.bytes.data()), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnnBackendFinalize(descriptor), CUDNN_STATUS_SUCCESS);
  return descriptor;
}

cudnnBackendDescriptor_t TestGraph::tensor(const Sizes& dims, const Sizes& strides, cudnnDataType_t type,
                                           bool is_virtual, bool by_value) {
  Sizes row_major(dims.size(), 1);
  for (size_t d = dims.size() - 1; d-- > 0;) row_major[d] = row_major[d + 1] * dims[d + 1];
  return make(CUDNN_BACKEND_TENSOR_DESCRIPTOR,
              {attribute<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {type}),
               attribute(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims),
               attribute(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides.empty() ? row_major : strides),
               attribute<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {next_id_++}),
               attribute<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, {4}),
               attribute<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, {is_virtual}),
               attribute<char>(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, {by_value})});
}

cudnnBackendDescriptor_t TestGraph::pointwise(cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                              cudnnBackendDescriptor_t b, cudnnBackendDescriptor_t y,
                                              cudnnBackendDescriptor_t t, int64_t axis) {
  const auto description =
      make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
           {attribute<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, {mode}),
            attribute<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT}),
            attribute<int64_t>(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, {axis})});
  std::vector<Attribute> attributes = {names(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, description),
                                       names(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x),
                                       names(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y)};
  if (b) attributes.push_back(names(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b));
  if (t) attributes.push_back(names(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t));
  return make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, attributes);
}

std::vector<cudnnBackendDescriptor_t> TestGraph::configurations(cudnnBackendDescriptor_t heuristic, int64_t* count) {
  std::vector<cudnnBackendDescriptor_t> found(8);
  for (auto& configuration : found) {
    EXPECT_EQ(cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &configuration), CUDNN_STATUS_SUCCESS);
    made_.push_back(configuration);
  }
  EXPECT_EQ(cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 8, count,
                                     found.data()),
            CUDNN_STATUS_SUCCESS);
  return found;
}

cudnnStatus_t TestGraph::run(const std::vector<cudnnBackendDescriptor_t>& operations,
                             const std::vector<std::pair<int64_t, void*>>& pointers) {
  const auto graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
                          {attribute(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, operations)});
  const auto heuristic =
      make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
           {names(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph),
            attribute<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {CUDNN_HEUR_MODE_A})});
  int64_t count = 0;
  const auto offered = configurations(heuristic, &count);
  if (count == 0) return CUDNN_STATUS_NOT_SUPPORTED;
  const auto plan =
      make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, {names(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, offered[0])});
  std::vector<int64_t> ids;
  std::vector<void*> addresses;
  for (const auto& [id, address] : pointers) {
    ids.push_back(id);
    addresses.push_back(address);
  }
  const auto pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
                         {attribute(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids),
                          attribute(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, addresses)});
  return cudnnBackendExecute(handle_, plan, pack);
}

int64_t TestGraph::offered(const std::vector<cudnnBackendDescriptor_t>& operations, const std::string& device_json) {
  const std::vector<char> text(device_json.begin(), device_json.end());
  const auto device = make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
                           {attribute(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, text)});
  const auto graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
                          {attribute(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, operations)});
  const auto heuristic =
      make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
           {names(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph), names(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device),
            attribute<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {CUDNN_HEUR_MODE_A})});
  int64_t count = 0;
  configurations(heuristic, &count);
  return count;
}

void Cudnn::SetUp() {
  OnEmulatedDevice::SetUp();
  ASSERT_EQ(cudnnCreate(&handle_), CUDNN_STATUS_SUCCESS);
}

void Cudnn::TearDown() {
  EXPECT_EQ(cudnnDestroy(handle_), CUDNN_STATUS_SUCCESS);
  OnEmulatedDevice::TearDown();
}

}  // namespace gpusizer::emulated
