// SPDX-License-Identifier: Apache-2.0
// ReLU, add (+ ReLU) and dropout on the CPU.
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"
#include "workloads/program/dropout_mask.hpp"

namespace gpusizer::cpu {

namespace {

// Floats that the tensor takes in its layout, the padding of channels included.
int64_t stored_floats(const KernelRequest& r, TensorId id) {
  return static_cast<int64_t>(r.layouts.stored(id).get_size() / sizeof(float));
}

class Relu final : public Kernel {
 public:
  explicit Relu(const KernelRequest& r)
      : vector_(r.engine.vector), x_(r, r.op.inputs[0], 0), y_(r, r.op.outputs[0]),
        count_(stored_floats(r, r.op.outputs[0])) {}
  int64_t workspace_bytes() const override { return x_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    x_.bind(a);
    y_.bind(a);
  }
  void run() override { vector_.relu(x_.load(), y_.floats(), count_); }

 private:
  const VectorKernels& vector_;
  BlockedImage x_;
  Slot y_;
  int64_t count_;
};

// Reads the ReLU's result in place of `saved`: the CPU's fusion table keeps it.
class ReluBackward final : public Kernel {
 public:
  explicit ReluBackward(const KernelRequest& r)
      : vector_(r.engine.vector), dy_(r, r.op.inputs[0]), y_(r, r.op.inputs.back()), dx_(r, r.op.outputs[0]),
        count_(stored_floats(r, r.op.outputs[0])) {
    if (std::get<ReluAttributes>(r.op.attributes).gradients > 1) dy2_.emplace(r, r.op.inputs[1]);
  }
  void bind(const Addresses& a) override {
    for (Slot* s : {&dy_, &y_, &dx_}) s->bind(a);
    if (dy2_) dy2_->bind(a);
  }
  void run() override {
    vector_.relu_backward(dy_.floats(), dy2_ ? dy2_->floats() : nullptr, y_.floats(), dx_.floats(), count_);
  }

 private:
  const VectorKernels& vector_;
  Slot dy_, y_, dx_;
  std::optional<Slot> dy2_;
  int64_t count_;
};

class Add final : public Kernel {
 public:
  explicit Add(const KernelRequest& r)
      : vector_(r.engine.vector), relu_(std::get<AddAttributes>(r.op.attributes).relu), a_(r, r.op.inputs[0], 0),
        b_(r, r.op.inputs[1], a_.workspace_bytes()), y_(r, r.op.outputs[0]), count_(stored_floats(r, r.op.outputs[0])) {}
  int64_t workspace_bytes() const override { return a_.workspace_bytes() + b_.workspace_bytes(); }
  void bind(const Addresses& addresses) override {
    a_.bind(addresses);
    b_.bind(addresses);
    y_.bind(addresses);
  }
  void run() override { vector_.add(a_.load(), b_.load(), y_.floats(), count_, relu_); }

 private:
  const VectorKernels& vector_;
  bool relu_;
  BlockedImage a_, b_;
  Slot y_;
  int64_t count_;
};

// Where the element that is the i-th in row-major order lies. For rows that is i itself.
class ElementOrder {
 public:
  ElementOrder(const KernelRequest& r, TensorId id) : blocked_(r.layouts.is_blocked(id)), block_(r.layouts.block()) {
    const Shape& shape = r.program.tensor(id).shape;
    count_ = element_count(shape);
    if (!blocked_) return;
    channels_ = shape[1];
    spatial_ = shape[2] * shape[3];
    blocks_ = round_up(channels_, block_) / block_;
  }
  int64_t count() const { return count_; }
  int64_t position(int64_t i) const {
    if (!blocked_) return i;
    const int64_t pixel = i % spatial_, channel = i / spatial_ % channels_, image = i / spatial_ / channels_;
    return ((image * blocks_ + channel / block_) * spatial_ + pixel) * block_ + channel % block_;
  }

 private:
  bool blocked_;
  int64_t block_, count_, channels_ = 0, spatial_ = 0, blocks_ = 0;
};

// Forward and backward in one: the random words are drawn again in place of keeping which elements were dropped, so
// `saved` holds just the seed and the step that they are drawn with.
class Dropout final : public Kernel {
 public:
  explicit Dropout(const KernelRequest& r)
      : backward_(r.op.kind == OpKind::dropout_backward), a_(std::get<DropoutAttributes>(r.op.attributes)),
        from_(r, r.op.inputs[0], 0), to_(r, r.op.outputs[0]), random_(r, r.op.inputs[1]),
        order_(r, r.op.outputs[0]), stored_floats_(stored_floats(r, r.op.outputs[0])) {
    if (!backward_ && r.is_read(r.op.outputs[1])) saved_.emplace(r, r.op.outputs[1]);
  }
  int64_t workspace_bytes() const override { return from_.workspace_bytes(); }
  int64_t saved_bytes() const override { return 2 * sizeof(int32_t); }
  void bind(const Addresses& a) override {
    from_.bind(a);
    to_.bind(a);
    random_.bind(a);
    if (saved_) saved_->bind(a);
  }

  void run() override {
    const auto* random = reinterpret_cast<const uint32_t*>(random_.ints());
    const uint32_t seed = random[0], step = random[1];
    if (saved_) {
      auto* kept = reinterpret_cast<uint32_t*>(saved_->bytes());
      kept[0] = seed;
      kept[1] = step;
    }
    const float* from = from_.load();
    float* to = to_.floats();
    if (stored_floats_ != order_.count())
      for (int64_t i = 0; i < stored_floats_; ++i) to[i] = 0;  // the padding of channels stays zero
    const uint32_t threshold = dropout_mask::threshold(a_.rate);
    const float scale = static_cast<float>(dropout_mask::scale(a_.rate));
    const int64_t count = order_.count(), quads = (count + 3) / 4;
#pragma omp parallel for schedule(static)
    for (int64_t quad = 0; quad < quads; ++quad) {
      const auto words = dropout_mask::words(static_cast<uint64_t>(quad), seed, step, a_.stream);
      for (int64_t i = quad * 4; i < count && i < quad * 4 + 4; ++i) {
        const int64_t at = order_.position(i);
        to[at] = dropout_mask::keep(words[static_cast<size_t>(i % 4)], threshold) ? from[at] * scale : 0.f;
      }
    }
  }

 private:
  bool backward_;
  DropoutAttributes a_;
  BlockedImage from_;
  Slot to_, random_;
  ElementOrder order_;
  int64_t stored_floats_;
  std::optional<Slot> saved_;
};

}  // namespace

std::unique_ptr<Kernel> relu(const KernelRequest& r) { return std::make_unique<Relu>(r); }
std::unique_ptr<Kernel> relu_backward(const KernelRequest& r) { return std::make_unique<ReluBackward>(r); }
std::unique_ptr<Kernel> add(const KernelRequest& r) { return std::make_unique<Add>(r); }
std::unique_ptr<Kernel> dropout(const KernelRequest& r) { return std::make_unique<Dropout>(r); }

}  // namespace gpusizer::cpu
