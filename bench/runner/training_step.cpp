// SPDX-License-Identifier: Apache-2.0
// The order of the transforms: autodiff, gradient accumulation, precision, optimizer.
#include "bench/runner/training_step.hpp"

#include <utility>

#include "workloads/program/autodiff.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"
#include "workloads/transforms/mixed_precision.hpp"

namespace gpusizer {
namespace {

OptimizerOptions optimizer_options(const CaseConfig& c) {
  const OptimizerKind kind = optimizer_kind(c.optimizer);
  return {.momentum = *c.momentum,
          .weight_decay = *c.weight_decay,
          .kind = kind,
          .l1 = c.l1,
          .clip_norm = c.clip_norm,
          .beta1 = c.beta1,
          .beta2 = c.beta2,
          // BERT's and LAMB's recipes leave biases and norms alone.
          .decay_vectors = kind != OptimizerKind::adamw && kind != OptimizerKind::lamb};
}

}  // namespace

Program training_step(const CaseConfig& config, const Program& forward, std::int64_t micro_batches) {
  Differentiated step = accumulate_gradients(differentiate(forward), micro_batches);
  step = mixed_precision(std::move(step), precision(config.precision));
  return add_optimizer(std::move(step.program), step.gradients, optimizer_options(config));
}

Program evaluation_step(const CaseConfig& config, Program forward) {
  return mixed_precision(std::move(forward), precision(config.precision));
}

}  // namespace gpusizer
