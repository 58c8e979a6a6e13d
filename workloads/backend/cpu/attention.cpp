// SPDX-License-Identifier: Apache-2.0
// Self-attention on the CPU: our own kernels, one head of one sequence at a time on each thread.
#include <fmt/format.h>

#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"
#include "workloads/program/dropout_mask.hpp"

namespace gpusizer::cpu {

namespace {

AttentionShape attention_shape(const KernelRequest& r, const Shape& qkv) {
  const auto& a = std::get<AttentionAttributes>(r.op.attributes);
  return {qkv[0] / a.sequence, a.heads, a.sequence, qkv[1] / 3 / a.heads, r.engine.threads};
}

float keep_scale(const AttentionAttributes& a) {
  return a.rate > 0 ? static_cast<float>(dropout_mask::scale(a.rate)) : 1.f;
}

class Attention final : public Kernel {
 public:
  explicit Attention(const KernelRequest& r)
      : vector_(r.engine.vector.attention),
        a_(std::get<AttentionAttributes>(r.op.attributes)),
        layer_(r.op.layer),
        shape_(attention_shape(r, r.input(0).shape)),
        qkv_(r, r.op.inputs[0]),
        context_(r, r.op.outputs[0]) {
    if (a_.masked) lengths_.emplace(r, r.op.inputs[1]);
    if (a_.rate > 0) random_.emplace(r, r.op.inputs.back());
    if (r.is_read(r.op.outputs[1])) saved_.emplace(r, r.op.outputs[1]);
  }
  int64_t workspace_bytes() const override { return vector_.workspace_bytes(shape_); }
  int64_t saved_bytes() const override { return vector_.saved_bytes(shape_, a_.rate > 0); }
  void bind(const Addresses& a) override {
    qkv_.bind(a);
    context_.bind(a);
    for (auto* s : {&lengths_, &random_, &saved_})
      if (*s) (*s)->bind(a);
    workspace_ = a.workspace;
  }

  void run() override {
    AttentionForward f{shape_,
                       qkv_.floats(),
                       lengths_ ? checked_lengths() : nullptr,
                       context_.floats(),
                       saved_ ? saved_->bytes() : nullptr,
                       workspace_};
    if (random_) {
      const auto* state = reinterpret_cast<const uint32_t*>(random_->ints());
      f.drops = true;
      f.draw = {state[0], state[1], a_.stream, dropout_mask::threshold(a_.rate)};
      f.first_head = a_.first_head;
      f.all_heads = a_.all_heads;
      f.keep_scale = keep_scale(a_);
    }
    vector_.forward(f);
  }

 private:
  const int32_t* checked_lengths() const {
    const int32_t* lengths = lengths_->ints();
    for (int64_t n = 0; n < shape_.batch; ++n)
      if (lengths[n] < 1 || lengths[n] > shape_.sequence)
        throw Error(Fault::input,
                    fmt::format("length {} of sample {} is not from 1 to {}", lengths[n], n, shape_.sequence),
                    "layer " + layer_, "a sequence has at least one real token and no more than the program's");
    return lengths;
  }

  const AttentionKernels& vector_;
  AttentionAttributes a_;
  std::string layer_;
  AttentionShape shape_;
  Slot qkv_, context_;
  std::optional<Slot> lengths_, random_, saved_;
  std::byte* workspace_ = nullptr;
};

// (dcontext, qkv, context, saved [, lengths]) -> dqkv. The lengths were checked by the forward.
class AttentionBackwardKernel final : public Kernel {
 public:
  explicit AttentionBackwardKernel(const KernelRequest& r)
      : vector_(r.engine.vector.attention),
        a_(std::get<AttentionAttributes>(r.op.attributes)),
        shape_(attention_shape(r, r.input(1).shape)),
        dcontext_(r, r.op.inputs[0]),
        qkv_(r, r.op.inputs[1]),
        saved_(r, r.op.inputs[3]),
        dqkv_(r, r.op.outputs[0]) {
    if (a_.masked) lengths_.emplace(r, r.op.inputs[4]);
  }
  int64_t workspace_bytes() const override { return vector_.workspace_bytes(shape_); }
  void bind(const Addresses& a) override {
    for (Slot* s : {&dcontext_, &qkv_, &saved_, &dqkv_}) s->bind(a);
    if (lengths_) lengths_->bind(a);
    workspace_ = a.workspace;
  }
  void run() override {
    AttentionBackward b{shape_,         dcontext_.floats(), qkv_.floats(), lengths_ ? lengths_->ints() : nullptr,
                        saved_.bytes(), dqkv_.floats(),     workspace_};
    b.drops = a_.rate > 0;
    b.keep_scale = keep_scale(a_);
    vector_.backward(b);
  }

 private:
  const AttentionKernels& vector_;
  AttentionAttributes a_;
  AttentionShape shape_;
  Slot dcontext_, qkv_, saved_, dqkv_;
  std::optional<Slot> lengths_;
  std::byte* workspace_ = nullptr;
};

}  // namespace

std::unique_ptr<Kernel> attention(const KernelRequest& r) { return std::make_unique<Attention>(r); }
std::unique_ptr<Kernel> attention_backward(const KernelRequest& r) {
  return std::make_unique<AttentionBackwardKernel>(r);
}

}  // namespace gpusizer::cpu
