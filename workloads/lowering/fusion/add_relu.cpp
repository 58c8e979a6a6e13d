// SPDX-License-Identifier: Apache-2.0
// Add followed by ReLU, where no batch norm can take both.
#include <utility>

#include "workloads/lowering/fusion.hpp"
#include "workloads/lowering/fusion/gradient_sum.hpp"
#include "workloads/lowering/rewriter.hpp"

namespace gpusizer::fusion {

namespace {

void sum_in_backward(Rewriter& r, int32_t index) {
  if (std::get<ReluAttributes>(r.operation(index).attributes).gradients > 1) return;
  std::vector<TensorId> inputs = take_gradient_sum(r, r.operation(index).inputs[0], index);
  const int gradients = static_cast<int>(inputs.size());
  Operation op = r.operation(index);
  inputs.push_back(op.inputs.back());
  op.inputs = std::move(inputs);
  op.attributes = ReluAttributes{gradients};
  r.replace(index, std::move(op));
}

bool fuse_into_add(Rewriter& r, int32_t relu) {
  const int32_t add = r.writer(r.operation(relu).inputs[0]);
  if (add < 0 || r.operation(add).kind != OpKind::add) return false;
  Operation fused = r.operation(add);
  if (std::get<AddAttributes>(fused.attributes).relu || r.only_reader(fused.outputs[0]) != relu) return false;
  const int32_t backward = r.backward(relu, OpKind::relu_backward);
  fused.attributes = AddAttributes{.relu = true};
  fused.outputs = r.operation(relu).outputs;
  r.replace(add, std::move(fused));
  r.merge(relu, add);
  if (backward >= 0) sum_in_backward(r, backward);
  return true;
}

}  // namespace

int add_relu(Program& program) { return rewrite_each(program, OpKind::relu, fuse_into_add); }

}  // namespace gpusizer::fusion
