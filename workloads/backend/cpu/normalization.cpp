// SPDX-License-Identifier: Apache-2.0
// Batch normalisation (+ residual) (+ ReLU) as one kernel each way, in blocks of channels.
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// What the forward keeps: mean and inverse deviation of each (padded) channel, then one bit for each element that the
// ReLU let through.
struct Kept {
  int64_t channels, mask_bytes;

  Kept(const BlockedShape& s, int lanes, bool relu)
      : channels(s.blocks * lanes), mask_bytes(relu ? s.batch * s.blocks * s.spatial * lanes / 8 : 0) {}
  int64_t bytes() const { return aligned(2 * channels * 4) + mask_bytes; }
  float* mean(std::byte* p) const { return reinterpret_cast<float*>(p); }
  float* inverse_deviation(std::byte* p) const { return mean(p) + channels; }
  uint8_t* mask(std::byte* p) const {
    return mask_bytes > 0 ? reinterpret_cast<uint8_t*>(p + aligned(2 * channels * 4)) : nullptr;
  }
};

class BatchNorm final : public Kernel {
 public:
  explicit BatchNorm(const KernelRequest& r)
      : engine_(r.engine), a_(std::get<NormAttributes>(r.op.attributes)), shape_(blocked_shape(r, r.input(0).shape)),
        kept_(shape_, r.engine.vector.lanes, a_.relu), partial_bytes_(aligned(norm_partial_bytes(shape_, r.engine))),
        x_(r, r.op.inputs[0], partial_bytes_), scale_(r, r.op.inputs[1]), shift_(r, r.op.inputs[2]),
        mean_(r, r.op.inputs[3]), variance_(r, r.op.inputs[4]), y_(r, r.op.outputs[0]) {
    if (a_.residual) residual_.emplace(r, r.op.inputs[5], partial_bytes_ + x_.workspace_bytes());
    if (a_.training && r.is_read(r.op.outputs[1])) saved_.emplace(r, r.op.outputs[1]);
    kept_offset_ = partial_bytes_ + x_.workspace_bytes() + (residual_ ? residual_->workspace_bytes() : 0);
  }

  static int64_t norm_partial_bytes(const BlockedShape& s, const Engine& e) {
    return e.vector.batch_norm_workspace_bytes(s, e.threads);
  }
  int64_t workspace_bytes() const override {
    return kept_offset_ + (a_.training && !saved_ ? kept_.bytes() : 0);
  }
  int64_t saved_bytes() const override { return a_.training ? kept_.bytes() : 0; }

  void bind(const Addresses& addresses) override {
    workspace_ = addresses.workspace;
    x_.bind(addresses);
    if (residual_) residual_->bind(addresses);
    for (Slot* s : {&scale_, &shift_, &mean_, &variance_, &y_}) s->bind(addresses);
    if (saved_) saved_->bind(addresses);
  }

  void run() override {
    NormForward f{shape_, x_.load(), scale_.floats(), shift_.floats()};
    f.residual = residual_ ? residual_->load() : nullptr;
    f.running_mean = mean_.floats();
    f.running_variance = variance_.floats();
    f.y = y_.floats();
    if (a_.training) {
      std::byte* kept = saved_ ? saved_->bytes() : workspace_ + kept_offset_;
      f.mean = kept_.mean(kept);
      f.inverse_deviation = kept_.inverse_deviation(kept);
      f.mask = kept_.mask(kept);
    }
    f.partial = reinterpret_cast<double*>(workspace_);
    f.epsilon = static_cast<float>(a_.epsilon);
    f.momentum = static_cast<float>(a_.momentum);
    f.training = a_.training;
    f.relu = a_.relu;
    f.threads = engine_.threads;
    engine_.vector.batch_norm_forward(f);
  }

 private:
  const Engine& engine_;
  NormAttributes a_;
  BlockedShape shape_;
  Kept kept_;
  int64_t partial_bytes_;
  BlockedImage x_;
  std::optional<BlockedImage> residual_;
  Slot scale_, shift_, mean_, variance_, y_;
  std::optional<Slot> saved_;  // empty: nothing reads it, so it stays in the workspace
  int64_t kept_offset_ = 0;
  std::byte* workspace_ = nullptr;
};

class BatchNormBackward final : public Kernel {
 public:
  explicit BatchNormBackward(const KernelRequest& r)
      : engine_(r.engine), a_(std::get<NormAttributes>(r.op.attributes)),
        shape_(blocked_shape(r, r.input(static_cast<size_t>(a_.gradients)).shape)),
        kept_(shape_, r.engine.vector.lanes, a_.relu),
        partial_bytes_(aligned(BatchNorm::norm_partial_bytes(shape_, r.engine))), dy_(r, r.op.inputs[0]),
        x_(r, r.op.inputs[static_cast<size_t>(a_.gradients)], partial_bytes_), scale_(r, r.op.inputs[at(1)]),
        saved_(r, r.op.inputs[at(2)]), dx_(r, r.op.outputs[0]), dscale_(r, r.op.outputs[1]), dshift_(r, r.op.outputs[2]) {
    if (a_.gradients > 1) dy2_.emplace(r, r.op.inputs[1]);
    if (a_.residual) dresidual_.emplace(r, r.op.outputs[3]);
  }

  int64_t workspace_bytes() const override { return partial_bytes_ + x_.workspace_bytes(); }

  void bind(const Addresses& addresses) override {
    workspace_ = addresses.workspace;
    x_.bind(addresses);
    for (Slot* s : {&dy_, &scale_, &saved_, &dx_, &dscale_, &dshift_}) s->bind(addresses);
    if (dy2_) dy2_->bind(addresses);
    if (dresidual_) dresidual_->bind(addresses);
  }

  void run() override {
    NormBackward b{shape_, dy_.floats(), dy2_ ? dy2_->floats() : nullptr, x_.load(), scale_.floats()};
    b.mean = kept_.mean(saved_.bytes());
    b.inverse_deviation = kept_.inverse_deviation(saved_.bytes());
    b.mask = a_.relu ? kept_.mask(saved_.bytes()) : nullptr;
    b.dx = dx_.floats();
    b.dscale = dscale_.floats();
    b.dshift = dshift_.floats();
    b.dresidual = dresidual_ ? dresidual_->floats() : nullptr;
    b.partial = reinterpret_cast<double*>(workspace_);
    b.threads = engine_.threads;
    engine_.vector.batch_norm_backward(b);
  }

 private:
  size_t at(int after_gradients) const { return static_cast<size_t>(a_.gradients + after_gradients); }

  const Engine& engine_;
  NormAttributes a_;
  BlockedShape shape_;
  Kept kept_;
  int64_t partial_bytes_;
  Slot dy_;
  BlockedImage x_;
  Slot scale_, saved_, dx_, dscale_, dshift_;
  std::optional<Slot> dy2_, dresidual_;
  std::byte* workspace_ = nullptr;
};

}  // namespace

std::unique_ptr<Kernel> batch_norm(const KernelRequest& r) { return std::make_unique<BatchNorm>(r); }
std::unique_ptr<Kernel> batch_norm_backward(const KernelRequest& r) { return std::make_unique<BatchNormBackward>(r); }

}  // namespace gpusizer::cpu
