// SPDX-License-Identifier: Apache-2.0
// From an operation graph to its execution: is it supported, which engines are offered, and the run itself.
#pragma once

#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"

namespace gpusizer::emulated {

// Engines that a heuristic offers, best first: one whose plan does not finalize is among them, and one with workspace.
constexpr int64_t offered_engines = 3;
constexpr int64_t failing_engine = 1;
constexpr int64_t engine_with_workspace = 2;
constexpr int64_t engine_workspace_bytes = 4096;

// The graph of an engine, its configuration or a plan; null: none.
DnnPointer graph_of(const DnnDescriptor& descriptor);

// "" or why no engine runs this graph on a device of this compute capability. It follows what cuDNN 9.19 answers for
// described devices, as far as models need it: before 80 no bfloat16, no norms and no graphs of several matmuls; FP32
// attention backward nowhere.
std::string unsupported_reason(const DnnDescriptor& graph, int capability);
// The capability that a DEVICEPROP descriptor describes; that of the emulated devices where it says nothing.
int described_capability(const DnnDescriptor* device_properties);

// "" or what is wrong with a graph, such as a virtual tensor that nobody computes.
std::string wrong_graph(const DnnDescriptor& graph);

// Checks the pointers and queues the plan on the handle's stream.
cudnnStatus_t execute(cudnnHandle_t handle, const DnnDescriptor& plan, const DnnDescriptor& variant_pack);

}  // namespace gpusizer::emulated
