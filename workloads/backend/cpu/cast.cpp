// SPDX-License-Identifier: Apache-2.0
// Casts on the CPU: shorter element types are stored as f32 words whose values the shorter type has.
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"
#include "workloads/backend/cpu/rounding.hpp"

namespace gpusizer::cpu {

namespace {

// (x) -> x rounded to the result's element type; in the result's layout.
class Cast final : public Kernel {
 public:
  explicit Cast(const KernelRequest& r)
      : round_(round_kernel(r.engine.vector, r.output(0).dtype)), x_(r, r.op.inputs[0]), y_(r, r.op.outputs[0]),
        count_(static_cast<int64_t>(r.layouts.stored(r.op.outputs[0]).get_size() / sizeof(float))) {
    if (r.layouts.is_blocked(r.op.outputs[0])) image_.emplace(r, r.op.inputs[0], 0);  // it may be bound row-major
  }
  int64_t workspace_bytes() const override { return image_ ? image_->workspace_bytes() : 0; }
  void bind(const Addresses& a) override {
    if (image_) image_->bind(a);
    x_.bind(a);
    y_.bind(a);
  }
  void run() override { round_(image_ ? image_->load() : x_.floats(), y_.floats(), count_); }

 private:
  RoundKernel round_;
  Slot x_, y_;
  std::optional<BlockedImage> image_;
  int64_t count_;
};

}  // namespace

std::unique_ptr<Kernel> cast(const KernelRequest& r) { return std::make_unique<Cast>(r); }

}  // namespace gpusizer::cpu
