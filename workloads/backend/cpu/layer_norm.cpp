// SPDX-License-Identifier: Apache-2.0
// Layer normalisation on the CPU; each row's mean and inverse deviation are kept for the backward.
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

class LayerNorm final : public Kernel {
 public:
  explicit LayerNorm(const KernelRequest& r)
      : vector_(r.engine.vector.rows),
        x_(r, r.op.inputs[0]),
        scale_(r, r.op.inputs[1]),
        shift_(r, r.op.inputs[2]),
        y_(r, r.op.outputs[0]),
        rows_(r.input(0).shape[0]),
        width_(r.input(0).shape[1]),
        epsilon_(static_cast<float>(std::get<LayerNormAttributes>(r.op.attributes).epsilon)) {
    if (r.is_read(r.op.outputs[1])) saved_.emplace(r, r.op.outputs[1]);
  }
  int64_t saved_bytes() const override { return 2 * rows_ * static_cast<int64_t>(sizeof(float)); }
  void bind(const Addresses& a) override {
    for (Slot* s : {&x_, &scale_, &shift_, &y_}) s->bind(a);
    if (saved_) saved_->bind(a);
  }
  void run() override {
    float* mean = saved_ ? saved_->floats() : nullptr;
    vector_.layer_norm_forward({x_.floats(), scale_.floats(), shift_.floats(), y_.floats(), mean,
                                mean ? mean + rows_ : nullptr, rows_, width_, epsilon_});
  }

 private:
  const RowKernels& vector_;
  Slot x_, scale_, shift_, y_;
  std::optional<Slot> saved_;
  int64_t rows_, width_;
  float epsilon_;
};

// (dy, x, scale, saved) -> dx, dscale, dshift
class LayerNormBackwardKernel final : public Kernel {
 public:
  explicit LayerNormBackwardKernel(const KernelRequest& r)
      : vector_(r.engine.vector.rows),
        threads_(r.engine.threads),
        rows_(r.input(1).shape[0]),
        width_(r.input(1).shape[1]) {
    for (const TensorId id : r.op.inputs) inputs_.emplace_back(r, id);
    for (const TensorId id : r.op.outputs) outputs_.emplace_back(r, id);
  }
  int64_t workspace_bytes() const override { return vector_.layer_norm_workspace_bytes(width_, threads_); }
  void bind(const Addresses& a) override {
    for (auto* list : {&inputs_, &outputs_})
      for (Slot& s : *list) s.bind(a);
    workspace_ = a.workspace;
  }
  void run() override {
    const float* mean = inputs_[3].floats();
    vector_.layer_norm_backward({inputs_[0].floats(), inputs_[1].floats(), inputs_[2].floats(), mean, mean + rows_,
                                 outputs_[0].floats(), outputs_[1].floats(), outputs_[2].floats(),
                                 reinterpret_cast<float*>(workspace_), rows_, width_, threads_});
  }

 private:
  const RowKernels& vector_;
  int threads_;
  int64_t rows_, width_;
  std::vector<Slot> inputs_, outputs_;
  std::byte* workspace_ = nullptr;
};

}  // namespace

std::unique_ptr<Kernel> layer_norm(const KernelRequest& r) { return std::make_unique<LayerNorm>(r); }
std::unique_ptr<Kernel> layer_norm_backward(const KernelRequest& r) {
  return std::make_unique<LayerNormBackwardKernel>(r);
}

}  // namespace gpusizer::cpu
