// SPDX-License-Identifier: Apache-2.0
// The step program: one training (or evaluation) step as a value - a static list of tensors and operations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/program/operation.hpp"
#include "workloads/program/tensor.hpp"

namespace gpusizer {

// Invariants (kept by ProgramBuilder and by every transform): an operation reads only inputs, scalars, persistent
// tensors and results of earlier operations; each tensor that is not persistent or bound is written exactly once.
// A scalar result besides the loss that people want to see: "mlm_accuracy".
struct ProgramOutput {
  std::string name;
  TensorId value;       // f32 scalar: a mean, or a sum if `summed`
  TensorId count;       // f32 scalar: over how many things the mean or the sum is; index -1: the program's batch
  bool summed = false;  // then the mean is value / count
};
inline constexpr size_t most_program_outputs = 8;

struct Program {
  std::string name;
  int64_t batch = 0;  // samples that one run of the program processes
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  TensorId loss;     // f32 scalar: mean over the batch; index -1 when the program has none
  TensorId correct;  // f32 scalar: how many samples' largest logit is the label; index -1 when none
  std::vector<ProgramOutput> outputs;  // at most most_program_outputs

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<size_t>(id.index)]; }
  Tensor& tensor(TensorId id) { return tensors[static_cast<size_t>(id.index)]; }
  // The tensor of that name, or nullptr.
  const Tensor* find(std::string_view tensor_name) const;
};

// For each tensor (by index) the indices of the operations that read it, ascending.
std::vector<std::vector<int32_t>> readers(const Program& program);
// For each tensor (by index) the index of the first operation that writes it, or -1: bound or persistent.
std::vector<int32_t> writers(const Program& program);

// Checks the invariants above; throws Error(Fault::usage) naming the operation's layer and the tensor.
void check_program(const Program& program);

}  // namespace gpusizer
