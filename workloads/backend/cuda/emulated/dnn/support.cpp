// SPDX-License-Identifier: Apache-2.0
// Which cuDNN graphs have an engine on which devices, and which graphs are none.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "workloads/backend/cuda/emulated/control.hpp"
#include "workloads/backend/cuda/emulated/dnn/plan.hpp"

namespace gpusizer::emulated {
namespace {

int count_of(const DnnDescriptor& graph, cudnnBackendDescriptorType_t type) {
  const auto& operations = graph.descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  return static_cast<int>(
      std::count_if(operations.begin(), operations.end(), [&](const DnnPointer& op) { return op->type == type; }));
}

std::vector<DnnTensor> all_tensors(const DnnDescriptor& graph) {
  std::vector<DnnTensor> all;
  for (const DnnPointer& op : graph.descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS))
    for (const auto& tensors : {inputs_of(*op), outputs_of(*op)}) all.insert(all.end(), tensors.begin(), tensors.end());
  return all;
}

bool uses(const DnnDescriptor& graph, Element type) {
  const auto all = all_tensors(graph);
  return std::any_of(all.begin(), all.end(), [&](const DnnTensor& t) { return !t.is_virtual && t.type == type; });
}

}  // namespace

DnnPointer graph_of(const DnnDescriptor& d) {
  switch (d.type) {
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      return d.descriptor(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return d.descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: {
      const DnnPointer engine = d.descriptor(CUDNN_ATTR_ENGINECFG_ENGINE);
      return engine ? graph_of(*engine) : nullptr;
    }
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: {
      const DnnPointer config = d.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
      return config ? graph_of(*config) : nullptr;
    }
    default:
      return nullptr;
  }
}

std::string unsupported_reason(const DnnDescriptor& graph, int capability) {
  const int matmuls = count_of(graph, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  const bool norms = count_of(graph, CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR) > 0 ||
                     count_of(graph, CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR) > 0;
  const bool attention_backward = matmuls >= 5;  // dV, dP, S, dQ, dK
  const bool half = uses(graph, Element::f16) || uses(graph, Element::bf16);
  if (attention_backward && !half) return "attention backward needs FP16 or BF16";
  if (capability >= 80) return "";
  if (uses(graph, Element::bf16)) return "bfloat16 needs compute capability 8.0";
  if (norms) return "norms need compute capability 8.0";
  return matmuls > 1 ? "fused matmuls need compute capability 8.0" : "";
}

int described_capability(const DnnDescriptor* properties) {
  if (properties) {
    const auto bytes = properties->list<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
    const std::string text(bytes.begin(), bytes.end()), key = "\"deviceVer\":";
    const size_t at = text.find(key);
    if (at != std::string::npos) return std::atoi(text.c_str() + at + key.size()) / 10;
  }
  return current_settings().capability;
}

std::string wrong_graph(const DnnDescriptor& graph) {
  std::set<int64_t> computed;
  try {
    for (const DnnPointer& op : graph.descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS))
      for (const DnnTensor& t : outputs_of(*op))
        if (!computed.insert(t.id).second) return "tensor " + std::to_string(t.id) + " is computed twice";
    for (const DnnTensor& t : all_tensors(graph)) {
      if (t.is_virtual && !computed.contains(t.id))
        return "virtual tensor " + std::to_string(t.id) + " is never computed";
      if (t.type == Element::unknown) return "tensor " + std::to_string(t.id) + " has a type that is not emulated";
    }
  } catch (const std::runtime_error& unknown) {
    return unknown.what();
  }
  return "";
}

}  // namespace gpusizer::emulated
