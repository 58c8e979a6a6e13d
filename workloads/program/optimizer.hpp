// SPDX-License-Identifier: Apache-2.0
// Completes a forward program into a training step: backward, then one update for each parameter.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

enum class OptimizerKind : uint8_t { sgd, adam, adamw, adagrad, lamb };
std::string_view to_string(OptimizerKind kind);
// Throws Error(usage) for another word, naming the known ones.
OptimizerKind optimizer_kind(std::string_view word);

struct OptimizerOptions {
  double momentum = 0.9;       // sgd only
  double weight_decay = 1e-4;  // adamw: decoupled; lamb: in the update; others: added to the gradient
  OptimizerKind kind = OptimizerKind::sgd;
  double l1 = 0;         // l1 * sign(w) is added to the gradient
  double clip_norm = 0;  // the largest norm of all gradients as one vector; 0: any
  double beta1 = 0.9, beta2 = 0.999;  // adam, adamw, lamb
  double epsilon = 0;                 // 0: the kind's own: 1e-8, lamb 1e-6, adagrad 1e-10
  bool decay_vectors = true;  // false: no weight decay and no L1 on biases and norms (parameters of one dimension)
};

// How one rank updates where several train together (transforms/data_parallel.hpp makes it).
struct ParallelUpdate {
  int32_t rank = 0;
  // Where gradients are spread over ranks: those over which squares are summed, ascending, so that the norm and the
  // loss scale see the whole model. Empty: all gradients are here.
  std::vector<int32_t> norm_ranks{};
  std::set<std::string> counted{};  // parameters whose gradients this rank adds to the squares: each once in the model
  // Parameters that their owners update and then give to the others; all of `ranks` have the same lists in one order.
  struct Handover {
    std::vector<int32_t> ranks;
    std::vector<std::string> parameters;
    std::vector<int32_t> owners;
  };
  std::vector<Handover> handovers{};
  std::string factor{};  // the name of a scalar that is 0 where there are no gradients yet: then nothing is updated
};

// differentiate() followed by add_optimizer().
Program training_program(const Program& forward, const OptimizerOptions& options);

// Appends one update per (parameter, gradient) pair, in order. The learning rate is the scalar "learning_rate" (initially
// 0, bound at run time). Optimizer state is named after its parameter: "<parameter>:momentum", ":m", ":v", ":sum"; the
// number of steps taken, skipped ones left out, is "optimizer:steps".
//
// With a clip norm, or where the program has a state "loss_scale" (see transforms/mixed_precision), one gradient_norm
// comes first; its results are the outputs "gradient_factor" (0: this step was skipped) and "gradient_norm". The loss
// scale is then updated too; its count of good steps is "loss_scale:good_steps".
//
// With `parallel`, the gradients may be those of some of the parameters; the norm is then made of sum_squares, an
// all_reduce and norm_factor, and a broadcast follows the last update of each handover's parameters. The number of
// steps and the loss scale are on every rank. Throws Error(usage) for parameters that the program does not have.
Program add_optimizer(Program differentiated, const std::vector<std::pair<TensorId, TensorId>>& gradients,
                      const OptimizerOptions& options, const ParallelUpdate& parallel = {});

}  // namespace gpusizer
