// SPDX-License-Identifier: Apache-2.0
// Self-attention as matrix products around a softmax: for GPUs and shapes for which cuDNN has no fused form.
#include <cmath>

#include "workloads/backend/cuda/module/kernels/attention.hpp"
#include "workloads/backend/cuda/module/matrix_product.hpp"
#include "workloads/backend/cuda/module/operations.hpp"
#include "workloads/program/dropout_mask.hpp"

namespace gpusizer::cuda {

namespace {

// Sizes, and where the heads of qkv [batch * sequence, 3 hidden] and context [batch * sequence, hidden] begin.
struct Heads {
  int64_t batch, heads, sequence, size, hidden;
  Element element;

  Heads(const Request& r, const Tensor& qkv) : element(element_of(qkv)) {
    const auto& a = r.attributes<AttentionAttributes>();
    heads = a.heads;
    sequence = a.sequence;
    batch = qkv.shape[0] / sequence;
    hidden = qkv.shape[1] / 3;
    size = hidden / heads;
  }
  int64_t count() const { return batch * heads; }
  int64_t probabilities() const { return count() * sequence * sequence; }
  // Of the probabilities in the operands' width and in f32.
  int64_t short_bytes() const { return aligned(probabilities() * bytes_of(element)); }
  int64_t full_bytes() const { return aligned(probabilities() * 4); }
};

AttentionCall call_of(const Request& r, const Heads& h) {
  const auto& a = r.attributes<AttentionAttributes>();
  AttentionCall call{.batch = h.batch, .heads = h.heads, .sequence = h.sequence, .first_head = a.first_head,
                     .all_heads = a.all_heads > 0 ? a.all_heads : a.heads};
  call.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(h.size)));
  call.drops = a.rate > 0;
  call.draw.stream = a.stream;
  call.draw.threshold = dropout_mask::threshold(a.rate);
  call.draw.scale = a.rate > 0 ? static_cast<float>(dropout_mask::scale(a.rate)) : 1.f;
  return call;
}

// The addresses of one matrix of each head, in device memory.
class Addresses {
 public:
  // `row`: elements of a row of all heads; `first`: of the first head's first element in it.
  static std::vector<void*> of_heads(const Heads& h, std::byte* base, int64_t row, int64_t first) {
    std::vector<void*> list;
    for (int64_t n = 0; n < h.batch; ++n)
      for (int64_t head = 0; head < h.heads; ++head)
        list.push_back(base + (n * h.sequence * row + first + head * h.size) * bytes_of(h.element));
    return list;
  }
  // Of matrices that lie one after the other.
  static std::vector<void*> dense(const Heads& h, std::byte* base, Element element) {
    std::vector<void*> list;
    for (int64_t i = 0; i < h.count(); ++i) list.push_back(base + i * h.sequence * h.sequence * bytes_of(element));
    return list;
  }
  explicit Addresses(const std::vector<void*>& list) : memory_(static_cast<int64_t>(list.size() * sizeof(void*))) {
    GPUSIZER_CHECK(cudaMemcpy(memory_.data(), list.data(), list.size() * sizeof(void*), cudaMemcpyHostToDevice));
  }
  const void* const* read() const { return reinterpret_cast<const void* const*>(memory_.data()); }
  void* const* write() const { return reinterpret_cast<void* const*>(memory_.data()); }

 private:
  DeviceMemory memory_;
};

// The three parts of qkv, or of its gradient.
struct Parts {
  Addresses q, k, v;
  Parts(const Heads& h, std::byte* qkv)
      : q(Addresses::of_heads(h, qkv, 3 * h.hidden, 0)), k(Addresses::of_heads(h, qkv, 3 * h.hidden, h.hidden)),
        v(Addresses::of_heads(h, qkv, 3 * h.hidden, 2 * h.hidden)) {}
};

// a b^T of rows of heads -> [sequence, sequence] in f32.
MatrixShape by_keys(const Heads& h, int64_t stride_a, int64_t stride_b) {
  return {.m = h.sequence, .n = h.sequence, .k = h.size, .transpose_b = true, .operands = h.element,
          .result = Element::f32, .stride_a = stride_a, .stride_b = stride_b};
}

// p b, or p^T b -> rows of heads.
MatrixShape by_tokens(const Heads& h, bool transpose, int64_t stride_b, int64_t stride_c) {
  return {.m = h.sequence, .n = h.size, .k = h.sequence, .transpose_a = transpose, .operands = h.element,
          .result = h.element == Element::tf32 ? Element::f32 : h.element, .stride_b = stride_b, .stride_c = stride_c};
}

}  // namespace

// (qkv [, lengths] [, random_state]) -> context, saved
Prepared attention(const Request& r) {
  const auto& a = r.attributes<AttentionAttributes>();
  const Heads h(r, r.input(0));
  const AttentionCall shape = call_of(r, h);
  const Operation op = r.op;
  const bool keeps = r.is_read(op.outputs[1]), masked = a.masked;
  Prepared prepared{.workspace_bytes = h.full_bytes() + (keeps ? 0 : h.short_bytes()) + (shape.drops ? h.short_bytes() : 0),
                    .saved_bytes = h.short_bytes()};
  prepared.bind = [=](const Place& place) {
    AttentionCall call = shape;
    if (masked) call.lengths = place.ints(op.inputs[1]);
    if (call.drops) call.draw.state = place.ints(op.inputs.back());
    std::byte* next = place.workspace + h.full_bytes();
    const Array scores{place.workspace, Element::f32};
    const Array kept{keeps ? place.bytes(op.outputs[1]) : next, h.element};
    if (!keeps) next += h.short_bytes();
    const Array dropped{call.drops ? next : static_cast<std::byte*>(kept.data), h.element};
    const Libraries* libraries = &place.libraries;
    return work([=, parts = Parts(h, place.bytes(op.inputs[0])),
                 score_list = Addresses(Addresses::dense(h, place.workspace, Element::f32)),
                 dropped_list = Addresses(Addresses::dense(h, static_cast<std::byte*>(dropped.data), h.element)),
                 context = Addresses(Addresses::of_heads(h, place.bytes(op.outputs[0]), h.hidden, 0))](cudaStream_t stream) {
      multiply_many(*libraries, stream, by_keys(h, 3 * h.hidden, 3 * h.hidden), parts.q.read(), parts.k.read(),
                    score_list.write(), h.count());
      GPUSIZER_CHECK(attention_softmax(call, scores, kept, dropped, stream));
      multiply_many(*libraries, stream, by_tokens(h, false, 3 * h.hidden, h.hidden), dropped_list.read(), parts.v.read(),
                    context.write(), h.count());
    });
  };
  return prepared;
}

// (dcontext, qkv, context, saved [, lengths]) -> dqkv. Keys beyond a length have probability 0 and get no gradient.
Prepared attention_backward(const Request& r) {
  const Heads h(r, r.input(1));
  const AttentionCall call = call_of(r, h);
  const Operation op = r.op;
  const bool apart = bytes_of(h.element) != 4;  // the scores' gradients are narrower than the probabilities'
  Prepared prepared{.workspace_bytes = h.full_bytes() + (apart ? h.short_bytes() : 0) + (call.drops ? h.short_bytes() : 0)};
  prepared.bind = [=](const Place& place) {
    std::byte* next = place.workspace + h.full_bytes();
    const Array kept{place.bytes(op.inputs[3]), h.element}, gradients{place.workspace, Element::f32};
    const Array dscores{apart ? next : place.workspace, h.element};
    if (apart) next += h.short_bytes();
    const Array dropped{call.drops ? next : static_cast<std::byte*>(kept.data), h.element};
    const Libraries* libraries = &place.libraries;
    return work([=, parts = Parts(h, place.bytes(op.inputs[1])), results = Parts(h, place.bytes(op.outputs[0])),
                 dcontext = Addresses(Addresses::of_heads(h, place.bytes(op.inputs[0]), h.hidden, 0)),
                 gradient_list = Addresses(Addresses::dense(h, place.workspace, Element::f32)),
                 score_list = Addresses(Addresses::dense(h, static_cast<std::byte*>(dscores.data), h.element)),
                 dropped_list = Addresses(Addresses::dense(h, static_cast<std::byte*>(dropped.data), h.element))](
                    cudaStream_t stream) {
      const auto many = [&](const MatrixShape& shape, const Addresses& left, const Addresses& right, const Addresses& to) {
        multiply_many(*libraries, stream, shape, left.read(), right.read(), to.write(), h.count());
      };
      if (call.drops) GPUSIZER_CHECK(attention_dropped(call, kept, dropped, stream));
      many(by_keys(h, h.hidden, 3 * h.hidden), dcontext, parts.v, gradient_list);
      many(by_tokens(h, true, h.hidden, 3 * h.hidden), dropped_list, dcontext, results.v);
      GPUSIZER_CHECK(attention_softmax_backward(call, kept, gradients, dscores, stream));
      many(by_tokens(h, false, 3 * h.hidden, 3 * h.hidden), score_list, parts.k, results.q);
      many(by_tokens(h, true, 3 * h.hidden, 3 * h.hidden), score_list, parts.q, results.k);
    });
  };
  return prepared;
}

}  // namespace gpusizer::cuda
