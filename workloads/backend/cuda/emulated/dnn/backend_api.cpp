// SPDX-License-Identifier: Apache-2.0
// cuDNN's backend API: descriptors are made, filled, finalized, asked and executed.
#include <algorithm>

#include "workloads/backend/cuda/emulated/dnn/plan.hpp"
#include "workloads/backend/cuda/emulated/runtime/task.hpp"

namespace gpusizer::emulated {
namespace {

size_t size_of_attribute(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_FRACTION:
      return sizeof(cudnnFraction_t);
    default:
      return 4;  // floats and enumerations
  }
}

DnnHandle* handle_of(cudnnBackendDescriptor_t descriptor) { return static_cast<DnnHandle*>(descriptor); }

cudnnStatus_t set_descriptors(DnnAttribute& attribute, int64_t count, const void* from) {
  const auto* handles = static_cast<const cudnnBackendDescriptor_t*>(from);
  for (int64_t i = 0; i < count; ++i) {
    if (!handles[i]) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    const DnnPointer& descriptor = handle_of(handles[i])->descriptor;
    if (!descriptor->finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    attribute.descriptors.push_back(descriptor);
  }
  return CUDNN_STATUS_SUCCESS;
}

// One more operation graph, engine and configuration for each engine that is offered.
DnnPointer configuration(const DnnPointer& graph, int64_t engine) {
  const auto bytes_of_engine = [&] {
    std::vector<char> bytes(sizeof engine);
    std::memcpy(bytes.data(), &engine, sizeof engine);
    return bytes;
  };
  auto engine_descriptor = std::make_shared<DnnDescriptor>(DnnDescriptor{CUDNN_BACKEND_ENGINE_DESCRIPTOR, true});
  engine_descriptor->attributes[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {graph}};
  engine_descriptor->attributes[CUDNN_ATTR_ENGINE_GLOBAL_INDEX] = {CUDNN_TYPE_INT64, 1, bytes_of_engine(), {}};
  auto config = std::make_shared<DnnDescriptor>(DnnDescriptor{CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, true});
  config->attributes[CUDNN_ATTR_ENGINECFG_ENGINE] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {engine_descriptor}};
  return config;
}

cudnnStatus_t give_descriptors(const std::vector<DnnPointer>& found, int64_t room, int64_t* count, void* to) {
  if (count) *count = static_cast<int64_t>(found.size());
  auto* handles = static_cast<cudnnBackendDescriptor_t*>(to);
  for (size_t i = 0; handles && i < found.size() && static_cast<int64_t>(i) < room; ++i) {
    if (!handles[i] || handle_of(handles[i])->descriptor->type != found[i]->type) return CUDNN_STATUS_BAD_PARAM;
    handle_of(handles[i])->descriptor = found[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t give_engines(const DnnDescriptor& heuristic, int64_t room, int64_t* count, void* to) {
  const DnnPointer graph = graph_of(heuristic), device = heuristic.descriptor(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
  std::vector<DnnPointer> offered;
  const std::string reason = unsupported_reason(*graph, described_capability(device.get()));
  if (reason.empty())
    for (int64_t engine = 0; engine < offered_engines; ++engine) offered.push_back(configuration(graph, engine));
  return give_descriptors(offered, room, count, to);
}

cudnnStatus_t give_number(int64_t number, int64_t room, int64_t* count, void* to) {
  if (count) *count = 1;
  if (to && room > 0) std::memcpy(to, &number, sizeof number);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_plan(DnnDescriptor& plan) {
  const DnnPointer graph = graph_of(plan), device = plan.descriptor(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
  const DnnPointer engine =
      plan.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->descriptor(CUDNN_ATTR_ENGINECFG_ENGINE);
  plan.engine = engine->value<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  plan.workspace_bytes = plan.engine == engine_with_workspace ? engine_workspace_bytes : 0;
  const std::string reason = unsupported_reason(*graph, described_capability(device.get()));
  if (!reason.empty()) return dnn_status("cudnnBackendFinalize", CUDNN_STATUS_NOT_SUPPORTED, reason);
  if (plan.engine == failing_engine || plan.engine < 0 || plan.engine >= offered_engines)
    return dnn_status("cudnnBackendFinalize", CUDNN_STATUS_NOT_SUPPORTED, "this engine does not run this graph");
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace
}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
                                           cudnnBackendDescriptor_t* descriptor) {
  constexpr const char* function = "cudnnBackendCreateDescriptor";
  if (const int planted = planted_status(function))
    return dnn_status(function, static_cast<cudnnStatus_t>(planted), "planted");
  *descriptor = new DnnHandle{std::make_shared<DnnDescriptor>(DnnDescriptor{descriptorType})};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete handle_of(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t attributeName,
                                       cudnnBackendAttributeType_t attributeType, int64_t elementCount,
                                       const void* arrayOfElements) {
  constexpr const char* function = "cudnnBackendSetAttribute";
  const std::string which = "attribute " + std::to_string(static_cast<int>(attributeName));
  if (!descriptor || !arrayOfElements)
    return dnn_status(function, CUDNN_STATUS_BAD_PARAM_NULL_POINTER, which + ": null");
  DnnDescriptor& d = *handle_of(descriptor)->descriptor;
  if (d.finalized) return dnn_status(function, CUDNN_STATUS_NOT_INITIALIZED, which + ": it is finalized already");
  DnnAttribute attribute{attributeType, elementCount, {}, {}};
  if (attributeType == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    if (const auto status = set_descriptors(attribute, elementCount, arrayOfElements))
      return dnn_status(function, status, which + ": a descriptor that is null or not finalized");
  } else {
    const auto* bytes = static_cast<const char*>(arrayOfElements);
    attribute.bytes.assign(bytes, bytes + static_cast<size_t>(elementCount) * size_of_attribute(attributeType));
  }
  d.attributes[attributeName] = std::move(attribute);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  constexpr const char* function = "cudnnBackendFinalize";
  if (const int planted = planted_status(function))
    return dnn_status(function, static_cast<cudnnStatus_t>(planted), "planted");
  if (!descriptor) return dnn_status(function, CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "null");
  DnnDescriptor& d = *handle_of(descriptor)->descriptor;
  if (const std::string missing = what_is_missing(d); !missing.empty())
    return dnn_status(function, CUDNN_STATUS_BAD_PARAM,
                      "a descriptor of type " + std::to_string(static_cast<int>(d.type)) + " lacks " + missing);
  if (d.type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
    if (const std::string wrong = wrong_graph(d); !wrong.empty())
      return dnn_status(function, CUDNN_STATUS_BAD_PARAM, wrong);
  if (d.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
    if (const auto status = finalize_plan(d)) return status;
  d.finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t attributeName,
                                       cudnnBackendAttributeType_t attributeType, int64_t requestedElementCount,
                                       int64_t* elementCount, void* arrayOfElements) {
  constexpr const char* function = "cudnnBackendGetAttribute";
  if (!descriptor) return dnn_status(function, CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "null");
  const DnnDescriptor& d = *handle_of(descriptor)->descriptor;
  if (!d.finalized) return dnn_status(function, CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "it is not finalized");
  if (attributeName == CUDNN_ATTR_ENGINEHEUR_RESULTS)
    return give_engines(d, requestedElementCount, elementCount, arrayOfElements);
  if (attributeName == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)
    return give_number(d.workspace_bytes, requestedElementCount, elementCount, arrayOfElements);
  if (attributeName == CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT)
    return give_number(offered_engines, requestedElementCount, elementCount, arrayOfElements);
  const bool notes = attributeName == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE ||
                     attributeName == CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE || attributeName == CUDNN_ATTR_ENGINE_KNOB_INFO ||
                     attributeName == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES;
  const auto found = d.attributes.find(attributeName);
  if (found == d.attributes.end() && notes) {
    if (elementCount) *elementCount = 0;
    return CUDNN_STATUS_SUCCESS;
  }
  if (found == d.attributes.end() || found->second.type != attributeType)
    return dnn_status(function, CUDNN_STATUS_NOT_SUPPORTED, "the attribute was not set");
  if (attributeType == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    return give_descriptors(found->second.descriptors, requestedElementCount, elementCount, arrayOfElements);
  const int64_t given = std::min(requestedElementCount, found->second.count);
  if (elementCount) *elementCount = found->second.count;
  if (arrayOfElements && given > 0)
    std::memcpy(arrayOfElements, found->second.bytes.data(),
                static_cast<size_t>(given) * size_of_attribute(attributeType));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t executionPlan,
                                  cudnnBackendDescriptor_t variantPack) {
  constexpr const char* function = "cudnnBackendExecute";
  if (const int planted = planted_status(function))
    return dnn_status(function, static_cast<cudnnStatus_t>(planted), "planted");
  if (!handle || !executionPlan || !variantPack)
    return dnn_status(function, CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "null");
  const DnnDescriptor &plan = *handle_of(executionPlan)->descriptor, &pack = *handle_of(variantPack)->descriptor;
  if (!plan.finalized || !pack.finalized)
    return dnn_status(function, CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "the plan or the variant pack is not finalized");
  return execute(handle, plan, pack);
}

}  // extern "C"
