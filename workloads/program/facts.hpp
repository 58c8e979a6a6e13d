// SPDX-License-Identifier: Apache-2.0
// Exact facts of a step program, counted and not measured: FLOPs by operation and phase, parameters, gradient bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

struct OperationFacts {
  OpKind kind;
  std::string layer;
  Phase phase;
  int64_t macs;  // multiply-accumulates for the whole batch
};

// Model FLOPs: two per multiply-accumulate of the matrix products and convolutions; all else is left out, as is usual
// for model FLOP utilisation (Chowdhery et al. 2022, "PaLM", appendix B). The first layer has no gradient for its input.
struct Facts {
  int64_t batch = 0;
  int64_t parameters = 0;      // trained values
  int64_t state_values = 0;    // running statistics and the like
  int64_t gradient_bytes = 0;  // what data parallelism has to reduce in one step
  int64_t forward_macs_per_sample = 0;
  int64_t flops_per_sample = 0;                  // whole training step (or evaluation, where the program is one)
  std::array<int64_t, 4> flops_by_phase{};       // per step, indexed by Phase
  std::vector<OperationFacts> operations;        // those with any multiply-accumulates
};

Facts facts(const Program& program);

// Bytes of all that an operation reads, in the element types of the program.
int64_t input_bytes(const Program& program, const Operation& op);

}  // namespace gpusizer
