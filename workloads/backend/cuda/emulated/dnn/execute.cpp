// SPDX-License-Identifier: Apache-2.0
// Runs a plan: pointers are checked when it is queued, and the graph is interpreted when the stream comes to it.
#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

#include "workloads/backend/cuda/emulated/dnn/plan.hpp"
#include "workloads/backend/cuda/emulated/runtime/task.hpp"

namespace gpusizer::emulated {
namespace {

// What a queued plan needs: numbers passed by value are copied when the plan is queued.
struct BoundGraph {
  DnnPointer graph;
  std::map<int64_t, void*> pointers;
  std::map<int64_t, std::vector<char>> by_value;
};

bool is_computed(const DnnPointer& op, GraphValues& values) {
  const auto inputs = inputs_of(*op);
  return std::all_of(inputs.begin(), inputs.end(), [&](const DnnTensor& t) { return values.has(t); });
}

// Operations may be listed in any order; each runs as soon as its inputs are there. An output in memory must not count
// as there before it is computed.
void interpret(const BoundGraph& bound) {
  const auto& operations = bound.graph->descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  std::map<int64_t, void*> pointers = bound.pointers;
  for (const auto& [id, bytes] : bound.by_value) pointers[id] = const_cast<char*>(bytes.data());
  GraphValues values(pointers);
  std::set<int64_t> pending;
  for (const DnnPointer& op : operations)
    for (const DnnTensor& t : outputs_of(*op)) pending.insert(t.id);
  std::vector<DnnPointer> left = operations;
  while (!left.empty()) {
    const auto next = std::find_if(left.begin(), left.end(), [&](const DnnPointer& op) {
      const auto inputs = inputs_of(*op);
      return is_computed(op, values) &&
             std::none_of(inputs.begin(), inputs.end(), [&](const DnnTensor& t) { return pending.contains(t.id); });
    });
    if (next == left.end()) throw std::runtime_error("the operations of a cuDNN graph wait for each other");
    run_operation(**next, values);
    for (const DnnTensor& t : outputs_of(**next)) pending.erase(t.id);
    left.erase(next);
  }
}

std::string bind_tensor(const DnnTensor& t, int device, BoundGraph& bound) {
  if (t.is_virtual) return "";
  const std::string name = "tensor " + std::to_string(t.id);
  const auto found = bound.pointers.find(t.id);
  if (found == bound.pointers.end() || !found->second) return name + " has no pointer";
  if (t.by_value) {
    const auto* bytes = static_cast<const char*>(found->second);
    if (!bound.by_value.contains(t.id)) bound.by_value[t.id].assign(bytes, bytes + t.bytes());
    return "";
  }
  if (reinterpret_cast<uintptr_t>(found->second) % static_cast<uintptr_t>(t.alignment))
    return name + " is not aligned to " + std::to_string(t.alignment) + " bytes";
  if (!is_device_memory(found->second, t.bytes(), device)) return name + " reaches outside the device's memory";
  return "";
}

std::string bind_graph(BoundGraph& bound, const DnnDescriptor& pack, int device) {
  const auto ids = pack.list<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.list<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  if (ids.size() != pointers.size()) return "a variant pack needs as many pointers as ids";
  for (size_t i = 0; i < ids.size(); ++i) bound.pointers[ids[i]] = pointers[i];
  for (const DnnPointer& op : bound.graph->descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS))
    for (const auto& tensors : {inputs_of(*op), outputs_of(*op)})
      for (const DnnTensor& t : tensors)
        if (std::string wrong = bind_tensor(t, device, bound); !wrong.empty()) return wrong;
  return "";
}

// The kinds of the first few operations, for messages.
std::string name_of_graph(const DnnDescriptor& graph) {
  std::string name = "a cuDNN graph of operations";
  const auto& operations = graph.descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  for (size_t i = 0; i < operations.size() && i < 4; ++i)
    name.append(" ").append(std::to_string(static_cast<int>(operations[i]->type)));
  return name;
}

}  // namespace

cudnnStatus_t execute(cudnnHandle_t handle, const DnnDescriptor& plan, const DnnDescriptor& variant_pack) {
  constexpr const char* function = "cudnnBackendExecute";
  const int device = device_of(handle->stream);
  BoundGraph bound{graph_of(plan), {}, {}};
  if (const std::string wrong = bind_graph(bound, variant_pack, device); !wrong.empty())
    return dnn_status(function, CUDNN_STATUS_BAD_PARAM, wrong);
  void* const workspace = variant_pack.value<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  if (plan.workspace_bytes && !is_device_memory(workspace, static_cast<size_t>(plan.workspace_bytes), device))
    return dnn_status(function, CUDNN_STATUS_BAD_PARAM, "the plan's workspace is missing or too small");
  const std::string name = name_of_graph(*bound.graph);
  const auto status = enqueue(function, handle->stream, [name, bound] {
    return Task{name, {}, [bound] { interpret(bound); }};
  });
  return status == cudaSuccess ? CUDNN_STATUS_SUCCESS
                               : dnn_status(function, CUDNN_STATUS_EXECUTION_FAILED, "the device is broken");
}

}  // namespace gpusizer::emulated
