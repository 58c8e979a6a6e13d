// SPDX-License-Identifier: Apache-2.0
// Dropout on the CPU. Rows: which elements were kept is a bit each. Images in blocks of channels: drawn again.
#include "workloads/program/dropout_mask.hpp"

#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// (x, random_state [, residual]) -> y, saved
class DropoutOfRows final : public Kernel {
 public:
  explicit DropoutOfRows(const KernelRequest& r)
      : vector_(r.engine.vector.rows),
        a_(std::get<DropoutAttributes>(r.op.attributes)),
        x_(r, r.op.inputs[0]),
        random_(r, r.op.inputs[1]),
        y_(r, r.op.outputs[0]),
        count_(element_count(r.output(0).shape)) {
    if (a_.residual) residual_.emplace(r, r.op.inputs[2]);
    if (r.is_read(r.op.outputs[1])) saved_.emplace(r, r.op.outputs[1]);
  }
  int64_t saved_bytes() const override { return dropout_bit_bytes(count_); }
  void bind(const Addresses& a) override {
    for (Slot* s : {&x_, &random_, &y_}) s->bind(a);
    for (auto* s : {&residual_, &saved_})
      if (*s) (*s)->bind(a);
  }
  void run() override {
    const auto* state = reinterpret_cast<const uint32_t*>(random_.ints());
    vector_.dropout_forward({x_.floats(),
                             residual_ ? residual_->floats() : nullptr,
                             y_.floats(),
                             saved_ ? reinterpret_cast<uint8_t*>(saved_->bytes()) : nullptr,
                             count_,
                             {state[0], state[1], a_.stream, dropout_mask::threshold(a_.rate)},
                             static_cast<float>(dropout_mask::scale(a_.rate))});
  }

 private:
  const RowKernels& vector_;
  DropoutAttributes a_;
  Slot x_, random_, y_;
  std::optional<Slot> residual_, saved_;
  int64_t count_;
};

// (dy, saved) -> dx
class DropoutOfRowsBackward final : public Kernel {
 public:
  explicit DropoutOfRowsBackward(const KernelRequest& r)
      : vector_(r.engine.vector.rows),
        rate_(std::get<DropoutAttributes>(r.op.attributes).rate),
        dy_(r, r.op.inputs[0]),
        saved_(r, r.op.inputs[1]),
        dx_(r, r.op.outputs[0]),
        count_(element_count(r.output(0).shape)) {}
  void bind(const Addresses& a) override {
    for (Slot* s : {&dy_, &saved_, &dx_}) s->bind(a);
  }
  void run() override {
    vector_.dropout_backward(dy_.floats(), reinterpret_cast<const uint8_t*>(saved_.bytes()), dx_.floats(), count_,
                             static_cast<float>(dropout_mask::scale(rate_)));
  }

 private:
  const RowKernels& vector_;
  double rate_;
  Slot dy_, saved_, dx_;
  int64_t count_;
};

// Where the element that is the i-th in row-major order lies in an image in blocks of channels.
class ElementOrder {
 public:
  ElementOrder(const Shape& image, int64_t block)
      : block_(block),
        count_(element_count(image)),
        channels_(image[1]),
        spatial_(image[2] * image[3]),
        blocks_(round_up(channels_, block) / block) {}
  int64_t count() const { return count_; }
  int64_t position(int64_t i) const {
    const int64_t pixel = i % spatial_, channel = i / spatial_ % channels_, image = i / spatial_ / channels_;
    return ((image * blocks_ + channel / block_) * spatial_ + pixel) * block_ + channel % block_;
  }

 private:
  int64_t block_, count_, channels_, spatial_, blocks_;
};

// Forward and backward in one: `saved` holds just the seed and the step that the random words are drawn with.
class DropoutOfImages final : public Kernel {
 public:
  explicit DropoutOfImages(const KernelRequest& r)
      : backward_(r.op.kind == OpKind::dropout_backward),
        a_(std::get<DropoutAttributes>(r.op.attributes)),
        from_(r, r.op.inputs[0], 0),
        to_(r, r.op.outputs[0]),
        random_(r, r.op.inputs[1]),
        order_(r.output(0).shape, r.layouts.block()),
        stored_floats_(stored_floats(r, r.op.outputs[0])) {
    if (!backward_ && a_.residual) residual_.emplace(r, r.op.inputs[2], from_.workspace_bytes());
    if (!backward_ && r.is_read(r.op.outputs[1])) saved_.emplace(r, r.op.outputs[1]);
  }
  int64_t workspace_bytes() const override {
    return from_.workspace_bytes() + (residual_ ? residual_->workspace_bytes() : 0);
  }
  int64_t saved_bytes() const override { return 2 * sizeof(int32_t); }
  void bind(const Addresses& a) override {
    from_.bind(a);
    to_.bind(a);
    random_.bind(a);
    if (residual_) residual_->bind(a);
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
    const float *from = from_.load(), *residual = residual_ ? residual_->load() : nullptr;
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
        const float v = dropout_mask::keep(words[static_cast<size_t>(i % 4)], threshold) ? from[at] * scale : 0.f;
        to[at] = residual ? v + residual[at] : v;
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
  std::optional<BlockedImage> residual_;
  std::optional<Slot> saved_;
};

}  // namespace

std::unique_ptr<Kernel> dropout(const KernelRequest& r) {
  const bool forward = r.op.kind == OpKind::dropout;
  if (r.layouts.is_blocked(r.op.outputs[0])) return std::make_unique<DropoutOfImages>(r);
  if (forward) return std::make_unique<DropoutOfRows>(r);
  return std::make_unique<DropoutOfRowsBackward>(r);
}

}  // namespace gpusizer::cpu
