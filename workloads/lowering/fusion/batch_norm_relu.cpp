// SPDX-License-Identifier: Apache-2.0
// Batch norm followed by ReLU, with or without a residual added between: one operation each way.
#include <utility>

#include "workloads/lowering/fusion.hpp"
#include "workloads/lowering/fusion/gradient_sum.hpp"
#include "workloads/lowering/rewriter.hpp"

namespace gpusizer::fusion {

namespace {

// Where the pattern stands. -1: not there (the add of the plain form, the backward of an evaluation program).
struct Match {
  int32_t norm = -1, add = -1, relu = -1;
  int32_t relu_backward = -1, norm_backward = -1;
  TensorId residual;
};

// The plain batch norm that makes the tensor for `reader` alone, or -1.
int32_t norm_for(const Rewriter& r, TensorId result, int32_t reader) {
  const int32_t norm = r.writer(result);
  if (norm < 0 || r.operation(norm).kind != OpKind::batch_norm || r.only_reader(result) != reader) return -1;
  return std::get<NormAttributes>(r.operation(norm).attributes).relu ? -1 : norm;
}

Match match_plain(const Rewriter& r, int32_t relu) {
  return {.norm = norm_for(r, r.operation(relu).inputs[0], relu), .relu = relu};
}

Match match_residual(const Rewriter& r, int32_t relu) {
  const TensorId sum = r.operation(relu).inputs[0];
  const int32_t add = r.writer(sum);
  if (add < 0 || r.operation(add).kind != OpKind::add || r.only_reader(sum) != relu) return {};
  const std::vector<TensorId>& addends = r.operation(add).inputs;
  if (addends[0] == addends[1] || std::get<AddAttributes>(r.operation(add).attributes).relu) return {};
  for (size_t i = 0; i < 2; ++i)
    if (const int32_t norm = norm_for(r, addends[i], add); norm >= 0)
      return {.norm = norm, .add = add, .relu = relu, .residual = addends[1 - i]};
  return {};
}

// Both backward operations, or neither: where only one of them exists, or something stands between, the pattern stays.
bool match_backward(const Rewriter& r, Match& m) {
  m.relu_backward = r.backward(m.relu, OpKind::relu_backward);
  m.norm_backward = r.backward(m.norm, OpKind::batch_norm_backward);
  if (m.relu_backward < 0 && m.norm_backward < 0) {
    const Operation& relu = r.operation(m.relu);
    return r.readers(relu.outputs[1]).empty();
  }
  if (m.relu_backward < 0 || m.norm_backward < 0) return false;
  const TensorId gradient = r.operation(m.relu_backward).outputs[0];
  if (r.operation(m.norm_backward).inputs[0] != gradient) return false;
  const bool for_norm_alone = r.only_reader(gradient) == m.norm_backward;
  return (m.add >= 0 || for_norm_alone) && r.may_move(m.norm_backward, m.relu_backward);
}

void fuse_forward(Rewriter& r, const Match& m) {
  Operation fused = r.operation(m.norm);
  auto& attributes = std::get<NormAttributes>(fused.attributes);
  attributes.relu = true;
  fused.outputs[0] = r.operation(m.relu).outputs[0];
  if (m.add >= 0) {
    attributes.residual = true;
    fused.inputs.push_back(m.residual);
  }
  r.replace(m.relu, std::move(fused));
  r.merge(m.norm, m.relu);
  if (m.add >= 0) r.merge(m.add, m.relu);
}

void fuse_backward(Rewriter& r, const Match& m) {
  const Operation relu_backward = r.operation(m.relu_backward);
  std::vector<TensorId> inputs = take_gradient_sum(r, relu_backward.inputs[0], m.relu_backward);
  Operation fused = r.operation(m.norm_backward);
  auto& attributes = std::get<NormAttributes>(fused.attributes);
  attributes.relu = true;
  attributes.residual = m.add >= 0;
  attributes.gradients = static_cast<int>(inputs.size());
  inputs.insert(inputs.end(), fused.inputs.begin() + 1, fused.inputs.end());
  fused.inputs = std::move(inputs);
  if (m.add >= 0) fused.outputs.push_back(relu_backward.outputs[0]);
  r.replace(m.relu_backward, std::move(fused));
  r.remove(m.norm_backward);
}

bool fuse(Rewriter& r, Match m) {
  if (m.norm < 0 || !r.may_move(m.norm, m.relu) || !match_backward(r, m)) return false;
  if (m.relu_backward >= 0) fuse_backward(r, m);
  fuse_forward(r, m);
  return true;
}

bool fuse_plain(Rewriter& r, int32_t relu) { return fuse(r, match_plain(r, relu)); }
bool fuse_residual(Rewriter& r, int32_t relu) { return fuse(r, match_residual(r, relu)); }

}  // namespace

int batch_norm_relu(Program& program) { return rewrite_each(program, OpKind::relu, fuse_plain); }
int batch_norm_add_relu(Program& program) { return rewrite_each(program, OpKind::relu, fuse_residual); }

}  // namespace gpusizer::fusion
