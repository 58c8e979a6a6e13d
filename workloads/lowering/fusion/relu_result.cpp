// SPDX-License-Identifier: Apache-2.0
// Replaces what a ReLU saved by the ReLU's result.
#include "workloads/lowering/fusion/relu_result.hpp"

#include <algorithm>

#include "workloads/lowering/fusion.hpp"

namespace gpusizer::fusion {

bool read_result_instead(Rewriter& r, int32_t forward_op) {
  const TensorId result = r.operation(forward_op).outputs[0], saved = r.operation(forward_op).outputs[1];
  const std::vector<int32_t> readers = r.readers(saved);
  for (const int32_t reader : readers) {
    Operation op = r.operation(reader);
    std::ranges::replace(op.inputs, saved, result);
    r.replace(reader, op);
  }
  return !readers.empty();
}

namespace {

bool of_add(Rewriter& r, int32_t add) {
  return std::get<AddAttributes>(r.operation(add).attributes).relu && read_result_instead(r, add);
}

}  // namespace

int relu_result(Program& program) {
  return rewrite_each(program, OpKind::relu, read_result_instead) + rewrite_each(program, OpKind::add, of_add);
}

}  // namespace gpusizer::fusion
