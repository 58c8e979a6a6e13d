// SPDX-License-Identifier: Apache-2.0
// Convolution followed by ReLU: the convolution clips its own result.
#include "workloads/lowering/fusion.hpp"
#include "workloads/lowering/fusion/relu_result.hpp"
#include "workloads/lowering/rewriter.hpp"

namespace gpusizer::fusion {

namespace {

bool fuse_into_conv(Rewriter& r, int32_t relu) {
  const int32_t conv = r.writer(r.operation(relu).inputs[0]);
  if (conv < 0 || r.operation(conv).kind != OpKind::conv2d) return false;
  Operation fused = r.operation(conv);
  auto& attributes = std::get<ConvAttributes>(fused.attributes);
  if (attributes.relu || r.only_reader(fused.outputs[0]) != relu) return false;
  read_result_instead(r, relu);
  attributes.relu = true;
  fused.outputs[0] = r.operation(relu).outputs[0];
  r.replace(conv, fused);
  r.merge(relu, conv);
  return true;
}

}  // namespace

int conv_relu(Program& program) { return rewrite_each(program, OpKind::relu, fuse_into_conv); }

}  // namespace gpusizer::fusion
