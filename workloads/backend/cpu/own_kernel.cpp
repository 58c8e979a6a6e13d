// SPDX-License-Identifier: Apache-2.0
// Images in blocks of channels for our own kernels.
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

BlockedImage::BlockedImage(const KernelRequest& r, TensorId id, int64_t offset)
    : engine_(r.engine), slot_(r, id), offset_(offset) {
  const Tensor& t = r.program.tensor(id);
  const bool for_image = r.output(0).shape.size() != 4 || r.layouts.is_blocked(r.op.outputs[0]);
  if (t.shape.size() != 4 || r.layouts.is_blocked(id) || !for_image) return;  // weights and their gradients lie alike
  copy_ = true;
  stored_ = r.layouts.stored(id);
  blocked_ = blocked_desc(t.shape, r.layouts.block());
  bytes_ = aligned(static_cast<int64_t>(blocked_.get_size()));
}

void BlockedImage::bind(const Addresses& addresses) {
  slot_.bind(addresses);
  if (!copy_) return;
  workspace_ = addresses.workspace + offset_;
  plain_memory_ = dnnl::memory(stored_, engine_.engine, DNNL_MEMORY_NONE);
  const dnnl::memory copy(blocked_, engine_.engine, workspace_);
  const dnnl::reorder::primitive_desc pd(engine_.engine, stored_, engine_.engine, blocked_);
  reorder_.emplace(dnnl::reorder(pd), std::vector<std::pair<int, dnnl::memory>>{{DNNL_ARG_FROM, plain_memory_},
                                                                                {DNNL_ARG_TO, copy}});
}

const float* BlockedImage::load() {
  if (!copy_) return slot_.floats();
  plain_memory_.set_data_handle(slot_.bytes());
  reorder_->run(engine_.stream);
  return reinterpret_cast<const float*>(workspace_);
}

BlockedShape blocked_shape(const KernelRequest& r, const Shape& image) {
  const int64_t block = r.layouts.block();
  return {image[0], round_up(image[1], block) / block, image[2] * image[3], image[1]};
}

}  // namespace gpusizer::cpu
