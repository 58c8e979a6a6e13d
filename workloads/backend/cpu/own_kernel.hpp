// SPDX-License-Identifier: Apache-2.0
// What our own CPU kernels share: access to tensors, and images in blocks of channels even where they are bound plainly.
#pragma once

#include <optional>

#include "workloads/backend/cpu/kernel.hpp"
#include "workloads/backend/cpu/primitive_kernel.hpp"

namespace gpusizer::cpu {

// A tensor of the program as a kernel sees it when it runs.
class Slot {
 public:
  Slot(const KernelRequest&, TensorId id) : id_(id) {}
  void bind(const Addresses& addresses) { slot_ = &addresses.tensors[static_cast<size_t>(id_.index)]; }
  std::byte* bytes() const { return *slot_; }
  float* floats() const { return reinterpret_cast<float*>(*slot_); }
  const int32_t* ints() const { return reinterpret_cast<const int32_t*>(*slot_); }

 private:
  TensorId id_;
  std::byte* const* slot_ = nullptr;
};

// An image in blocks of channels: the tensor itself, or a copy in the workspace at `offset` where it is bound row-major.
class BlockedImage {
 public:
  BlockedImage(const KernelRequest& r, TensorId id, int64_t offset);
  int64_t workspace_bytes() const { return copy_ ? bytes_ : 0; }
  void bind(const Addresses& addresses);
  // The image; makes the copy when there must be one.
  const float* load();

 private:
  const Engine& engine_;
  Slot slot_;
  int64_t offset_, bytes_ = 0;
  onednn::Desc stored_, blocked_;
  bool copy_ = false;
  std::byte* workspace_ = nullptr;
  dnnl::memory plain_memory_;
  std::optional<BoundPrimitive> reorder_;
};

// Batch, blocks of channels and pixels of an image tensor in the engine's blocked layout.
BlockedShape blocked_shape(const KernelRequest& r, const Shape& image);

// Floats that the tensor takes in its layout, the padding of channels included.
inline int64_t stored_floats(const KernelRequest& r, TensorId id) {
  return static_cast<int64_t>(r.layouts.stored(id).get_size() / sizeof(float));
}

}  // namespace gpusizer::cpu
