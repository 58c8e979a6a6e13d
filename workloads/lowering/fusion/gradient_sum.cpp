// SPDX-License-Identifier: Apache-2.0
// Takes over an add of two gradients.
#include "workloads/lowering/fusion/gradient_sum.hpp"

namespace gpusizer::fusion {

std::vector<TensorId> take_gradient_sum(Rewriter& rewriter, TensorId gradient, int32_t reader) {
  const int32_t sum = rewriter.writer(gradient);
  if (sum < 0 || rewriter.only_reader(gradient) != reader) return {gradient};
  const Operation& op = rewriter.operation(sum);
  if (op.kind != OpKind::add || op.phase != Phase::backward) return {gradient};
  const std::vector<TensorId> addends = op.inputs;
  rewriter.remove(sum);
  return addends;
}

}  // namespace gpusizer::fusion
