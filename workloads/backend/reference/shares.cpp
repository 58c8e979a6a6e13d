// SPDX-License-Identifier: Apache-2.0
// A part's share in the whole: counts, quotients, and values multiplied by a computed number.
#include <algorithm>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// labels -> how many are not negative
void count_labels(const Call& call) {
  const auto counts = [](double label) { return label >= 0; };
  call.outputs[0][0] = static_cast<double>(std::ranges::count_if(call.inputs[0].values, counts));
}

// (a, b) -> a / b; 0 where b is 0
void divide(const Call& call) {
  const double denominator = call.inputs[1][0];
  call.outputs[0][0] = denominator != 0 ? call.inputs[0][0] / denominator : 0;
}

// (x, s) -> s x
void scale_by(const Call& call) {
  const double factor = call.inputs[1][0];
  for (int64_t i = 0; i < call.inputs[0].size(); ++i) call.outputs[0][i] = factor * call.inputs[0][i];
}

void fork(const Call& call) { std::ranges::copy(call.inputs[0].values, call.outputs[0].values.begin()); }

constexpr Kernel table[] = {
    {OpKind::count_labels, count_labels},
    {OpKind::divide, divide},
    {OpKind::scale_by, scale_by},
    {OpKind::fork, fork},
};

}  // namespace

std::span<const Kernel> shares() { return table; }

}  // namespace gpusizer::reference
