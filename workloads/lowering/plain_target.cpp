// SPDX-License-Identifier: Apache-2.0
// The plain target's sizes and its table of fusions.
#include "workloads/lowering/plain_target.hpp"

#include "workloads/lowering/fusion.hpp"

namespace gpusizer {

namespace {

constexpr FusionRule fusions[] = {fuse_batch_norm_add_relu, fuse_batch_norm_relu, fuse_conv_relu, fuse_add_relu,
                                  keep_relu_result, fuse_dropout_add};

int64_t plain_bytes(const Tensor& t) { return element_count(t.shape) * element_bytes(t.dtype); }

// The probabilities, and with dropout which of them were kept.
int64_t attention_bytes(const Shape& qkv, const AttentionAttributes& a) {
  return qkv[0] * a.heads * a.sequence * (a.rate > 0 ? 5 : 4);
}

int64_t saved_bytes(const Program& p, const Operation& op) {
  if (op.outputs.empty()) return 0;
  const int64_t elements = element_count(p.tensor(op.outputs[0]).shape);
  switch (op.kind) {
    case OpKind::relu:
    case OpKind::add:
    case OpKind::dropout:
    case OpKind::max_pool: return 4 * elements;
    case OpKind::softmax_cross_entropy:  // the probabilities, and how many samples count if not all do
      return 4 * element_count(p.tensor(op.inputs[0]).shape) + 4 * std::get<LossAttributes>(op.attributes).ignore_negative;
    case OpKind::layer_norm: return 8 * p.tensor(op.inputs[0]).shape[0];
    case OpKind::attention: return attention_bytes(p.tensor(op.inputs[0]).shape, std::get<AttentionAttributes>(op.attributes));
    case OpKind::lstm: return 5 * 4 * elements;  // four gates and the cell
    case OpKind::batch_norm:
      return 8 * p.tensor(op.inputs[0]).shape[1] + (std::get<NormAttributes>(op.attributes).relu ? elements : 0);
    default: return 0;
  }
}

OperationStorage storage(const Program& p, const Operation& op) { return {.saved_bytes = saved_bytes(p, op)}; }

}  // namespace

Target plain_target(bool early_updates) {
  return {.name = "plain", .fusions = fusions, .early_updates = early_updates, .tensor_bytes = plain_bytes,
          .operation_storage = storage};
}

Target plain_unfused_target() {
  return {.name = "plain_unfused", .fusions = {}, .tensor_bytes = plain_bytes, .operation_storage = storage};
}

}  // namespace gpusizer
