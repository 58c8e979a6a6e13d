// SPDX-License-Identifier: Apache-2.0
// Batch normalisation (+ residual) (+ ReLU) as one kernel each way, in blocks of channels; for each group of samples
// that are normalised together.
#include <algorithm>

#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// The image of one group; how many there are.
BlockedShape group_shape(const NormAttributes& a, BlockedShape s) {
  if (a.training && a.group > 0) s.batch = a.group;
  return s;
}
int64_t group_count(const NormAttributes& a, const Shape& image) {
  return a.training && a.group > 0 ? image[0] / a.group : 1;
}
int64_t group_floats(const BlockedShape& s, int lanes) { return s.batch * s.blocks * s.spatial * lanes; }

// Two numbers for each channel, of one group and of all so far.
struct GroupSums {
  explicit GroupSums(int64_t channel_count) : channels(channel_count) {}
  int64_t bytes() const { return aligned(2 * channels * 4) + aligned(2 * channels * 8); }
  void bind(std::byte* memory) {
    one = reinterpret_cast<float*>(memory);
    all = reinterpret_cast<double*>(memory + aligned(2 * channels * 4));
  }
  void start() const { std::fill(all, all + 2 * channels, 0.0); }
  void add() const {
    for (int64_t i = 0; i < 2 * channels; ++i) all[i] += double{one[i]};
  }

  int64_t channels;
  float* one = nullptr;
  double* all = nullptr;
};

// What the forward keeps of a group: mean and inverse deviation of each (padded) channel, then one bit for each element
// that the ReLU let through.
struct Kept {
  int64_t channels, mask_bytes;

  Kept(const BlockedShape& s, int lanes, bool relu)
      : channels(s.blocks * lanes), mask_bytes(relu ? s.batch * s.blocks * s.spatial * lanes / 8 : 0) {}
  int64_t bytes() const { return aligned(2 * channels * 4) + aligned(mask_bytes); }
  float* mean(std::byte* p) const { return reinterpret_cast<float*>(p); }
  float* inverse_deviation(std::byte* p) const { return mean(p) + channels; }
  uint8_t* mask(std::byte* p) const {
    return mask_bytes > 0 ? reinterpret_cast<uint8_t*>(p + aligned(2 * channels * 4)) : nullptr;
  }
};

class BatchNorm final : public Kernel {
 public:
  explicit BatchNorm(const KernelRequest& r)
      : engine_(r.engine),
        a_(std::get<NormAttributes>(r.op.attributes)),
        shape_(group_shape(a_, blocked_shape(r, r.input(0).shape))),
        groups_(group_count(a_, r.input(0).shape)),
        sums_(shape_.channels),
        kept_(shape_, r.engine.vector.lanes, a_.relu),
        partial_bytes_(aligned(norm_partial_bytes(shape_, r.engine))),
        x_(r, r.op.inputs[0], partial_bytes_),
        scale_(r, r.op.inputs[1]),
        shift_(r, r.op.inputs[2]),
        mean_(r, r.op.inputs[3]),
        variance_(r, r.op.inputs[4]),
        y_(r, r.op.outputs[0]) {
    if (a_.residual) residual_.emplace(r, r.op.inputs[5], partial_bytes_ + x_.workspace_bytes());
    if (a_.training && r.is_read(r.op.outputs[1])) saved_.emplace(r, r.op.outputs[1]);
    kept_offset_ = partial_bytes_ + x_.workspace_bytes() + (residual_ ? residual_->workspace_bytes() : 0);
  }

  static int64_t norm_partial_bytes(const BlockedShape& s, const Engine& e) {
    return e.vector.batch_norm_workspace_bytes(s, e.threads);
  }
  int64_t workspace_bytes() const override { return sums_offset() + (groups_ > 1 ? sums_.bytes() : 0); }
  int64_t saved_bytes() const override { return a_.training ? groups_ * kept_.bytes() : 0; }

  void bind(const Addresses& addresses) override {
    workspace_ = addresses.workspace;
    x_.bind(addresses);
    if (residual_) residual_->bind(addresses);
    for (Slot* s : {&scale_, &shift_, &mean_, &variance_, &y_}) s->bind(addresses);
    if (saved_) saved_->bind(addresses);
    if (groups_ > 1) sums_.bind(workspace_ + sums_offset());
  }

  void run() override {
    const float *x = x_.load(), *residual = residual_ ? residual_->load() : nullptr;
    if (groups_ == 1) return run_group(x, residual, 0, {mean_.floats(), variance_.floats(), a_.momentum});
    sums_.start();
    for (int64_t g = 0; g < groups_; ++g) {
      std::fill(sums_.one, sums_.one + 2 * shape_.channels, 0.f);
      run_group(x, residual, g, {sums_.one, sums_.one + shape_.channels, 1});
      sums_.add();
    }
    move_running_statistics();
  }

 private:
  int64_t sums_offset() const { return kept_offset_ + (a_.training && !saved_ ? aligned(groups_ * kept_.bytes()) : 0); }

  // Where statistics go, and by how much they are moved: with 1, from zero, they are those of the group alone.
  struct Running {
    float *mean, *variance;
    double momentum;
  };

  void run_group(const float* x, const float* residual, int64_t group, const Running& running) const {
    const int64_t start = group * group_floats(shape_, engine_.vector.lanes);
    NormForward f{shape_, x + start, scale_.floats(), shift_.floats()};
    f.residual = residual ? residual + start : nullptr;
    f.running_mean = running.mean;
    f.running_variance = running.variance;
    f.y = y_.floats() + start;
    if (a_.training) {
      std::byte* kept = (saved_ ? saved_->bytes() : workspace_ + kept_offset_) + group * kept_.bytes();
      f.mean = kept_.mean(kept);
      f.inverse_deviation = kept_.inverse_deviation(kept);
      f.mask = kept_.mask(kept);
    }
    f.partial = reinterpret_cast<double*>(workspace_);
    f.epsilon = static_cast<float>(a_.epsilon);
    f.momentum = static_cast<float>(running.momentum);
    f.training = a_.training;
    f.relu = a_.relu;
    f.threads = engine_.threads;
    engine_.vector.batch_norm_forward(f);
  }

  // Towards the mean over the groups.
  void move_running_statistics() const {
    const auto momentum = static_cast<float>(a_.momentum);
    for (int64_t c = 0; c < shape_.channels; ++c) {
      float &mean = mean_.floats()[c], &variance = variance_.floats()[c];
      mean += momentum * (static_cast<float>(sums_.all[c] / static_cast<double>(groups_)) - mean);
      variance +=
          momentum * (static_cast<float>(sums_.all[shape_.channels + c] / static_cast<double>(groups_)) - variance);
    }
  }

  const Engine& engine_;
  NormAttributes a_;
  BlockedShape shape_;  // of a group
  int64_t groups_;
  GroupSums sums_;
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
      : engine_(r.engine),
        a_(std::get<NormAttributes>(r.op.attributes)),
        shape_(group_shape(a_, blocked_shape(r, r.input(static_cast<size_t>(a_.gradients)).shape))),
        groups_(group_count(a_, r.input(static_cast<size_t>(a_.gradients)).shape)),
        sums_(shape_.channels),
        kept_(shape_, r.engine.vector.lanes, a_.relu),
        partial_bytes_(aligned(BatchNorm::norm_partial_bytes(shape_, r.engine))),
        dy_(r, r.op.inputs[0]),
        x_(r, r.op.inputs[static_cast<size_t>(a_.gradients)], partial_bytes_),
        scale_(r, r.op.inputs[at(1)]),
        saved_(r, r.op.inputs[at(2)]),
        dx_(r, r.op.outputs[0]),
        dscale_(r, r.op.outputs[1]),
        dshift_(r, r.op.outputs[2]) {
    if (a_.gradients > 1) dy2_.emplace(r, r.op.inputs[1]);
    if (a_.residual) dresidual_.emplace(r, r.op.outputs[3]);
  }

  int64_t workspace_bytes() const override { return sums_offset() + (groups_ > 1 ? sums_.bytes() : 0); }

  void bind(const Addresses& addresses) override {
    workspace_ = addresses.workspace;
    x_.bind(addresses);
    for (Slot* s : {&dy_, &scale_, &saved_, &dx_, &dscale_, &dshift_}) s->bind(addresses);
    if (dy2_) dy2_->bind(addresses);
    if (dresidual_) dresidual_->bind(addresses);
    if (groups_ > 1) sums_.bind(workspace_ + sums_offset());
  }

  void run() override {
    const float* x = x_.load();
    if (groups_ == 1) return run_group(x, 0, dscale_.floats(), dshift_.floats());
    sums_.start();
    for (int64_t g = 0; g < groups_; ++g) {
      run_group(x, g, sums_.one, sums_.one + shape_.channels);
      sums_.add();
    }
    for (int64_t c = 0; c < shape_.channels; ++c) {
      dscale_.floats()[c] = static_cast<float>(sums_.all[c]);
      dshift_.floats()[c] = static_cast<float>(sums_.all[shape_.channels + c]);
    }
  }

 private:
  int64_t sums_offset() const { return partial_bytes_ + aligned(x_.workspace_bytes()); }

  void run_group(const float* x, int64_t group, float* dscale, float* dshift) const {
    const int64_t start = group * group_floats(shape_, engine_.vector.lanes);
    std::byte* kept = saved_.bytes() + group * kept_.bytes();
    NormBackward b{shape_, dy_.floats() + start, dy2_ ? dy2_->floats() + start : nullptr, x + start, scale_.floats()};
    b.mean = kept_.mean(kept);
    b.inverse_deviation = kept_.inverse_deviation(kept);
    b.mask = a_.relu ? kept_.mask(kept) : nullptr;
    b.dx = dx_.floats() + start;
    b.dscale = dscale;
    b.dshift = dshift;
    b.dresidual = dresidual_ ? dresidual_->floats() + start : nullptr;
    b.partial = reinterpret_cast<double*>(workspace_);
    b.threads = engine_.threads;
    engine_.vector.batch_norm_backward(b);
  }

  size_t at(int after_gradients) const { return static_cast<size_t>(a_.gradients + after_gradients); }

  const Engine& engine_;
  NormAttributes a_;
  BlockedShape shape_;  // of a group
  int64_t groups_;
  GroupSums sums_;
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
