// SPDX-License-Identifier: Apache-2.0
// Dropout followed by the add of a residual: the dropout adds it. The gradients stay what they are: that of the sum is
// the residual's, and the dropout's backward reads it.
#include "workloads/lowering/fusion.hpp"
#include "workloads/lowering/rewriter.hpp"

namespace gpusizer::fusion {

namespace {

// The plain dropout that makes the tensor for `reader` alone, or -1.
int32_t dropout_for(const Rewriter& r, TensorId result, int32_t reader) {
  const int32_t dropout = r.writer(result);
  if (dropout < 0 || r.operation(dropout).kind != OpKind::dropout || r.only_reader(result) != reader) return -1;
  return std::get<DropoutAttributes>(r.operation(dropout).attributes).residual ? -1 : dropout;
}

bool fuse_into_dropout(Rewriter& r, int32_t add) {
  const Operation sum = r.operation(add);
  if (std::get<AddAttributes>(sum.attributes).relu || sum.inputs[0] == sum.inputs[1]) return false;
  for (size_t i = 0; i < 2; ++i) {
    const int32_t dropout = dropout_for(r, sum.inputs[i], add);
    if (dropout < 0 || !r.may_move(dropout, add)) continue;
    const Program& p = r.program();
    if (p.tensor(sum.inputs[i]).dtype != p.tensor(sum.outputs[0]).dtype) continue;
    Operation fused = r.operation(dropout);
    std::get<DropoutAttributes>(fused.attributes).residual = true;
    fused.inputs.push_back(sum.inputs[1 - i]);
    fused.outputs[0] = sum.outputs[0];
    r.replace(add, std::move(fused));
    r.merge(dropout, add);
    return true;
  }
  return false;
}

}  // namespace

int dropout_add(Program& program) { return rewrite_each(program, OpKind::add, fuse_into_dropout); }

}  // namespace gpusizer::fusion
