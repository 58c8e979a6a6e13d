// SPDX-License-Identifier: Apache-2.0
// A descriptor of cuDNN's backend API: its attributes as they were set, and the descriptors that they name.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gpusizer::emulated {

struct DnnDescriptor;
using DnnPointer = std::shared_ptr<DnnDescriptor>;

struct DnnAttribute {
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::vector<char> bytes;              // of everything that is no descriptor
  std::vector<DnnPointer> descriptors;  // what is finalized stays, whatever becomes of the caller's handle
};

struct DnnDescriptor {
  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<int, DnnAttribute> attributes;
  // An execution plan's: which of the offered engines, and what it needs.
  int64_t engine = 0;
  int64_t workspace_bytes = 0;

  bool has(int name) const { return attributes.contains(name); }

  template <class T>
  std::vector<T> list(int name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<T> values(found->second.bytes.size() / sizeof(T));
    std::memcpy(values.data(), found->second.bytes.data(), values.size() * sizeof(T));
    return values;
  }

  template <class T>
  T value(int name, T otherwise = {}) const {
    const std::vector<T> values = list<T>(name);
    return values.empty() ? otherwise : values.front();
  }

  double number(int name, double otherwise) const;  // a float or a double, whichever was set
  std::vector<int64_t> whole(int name) const;       // integers, or fractions that are whole
  DnnPointer descriptor(int name) const;            // null: not set
  const std::vector<DnnPointer>& descriptors(int name) const;
};

// What the caller's cudnnBackendDescriptor_t points to.
struct DnnHandle {
  DnnPointer descriptor;
};

// Keeps the message for cudnnGetLastErrorString() and counts the error as unasked; "not supported" is an answer.
cudnnStatus_t dnn_status(const char* function, cudnnStatus_t status, const std::string& message);
const char* dnn_status_name(cudnnStatus_t status);

// Checks that a descriptor is complete when it is finalized. "" or what is missing.
std::string what_is_missing(const DnnDescriptor& descriptor);

}  // namespace gpusizer::emulated

struct cudnnContext {
  cudaStream_t stream = nullptr;
};
