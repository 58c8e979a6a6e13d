// SPDX-License-Identifier: Apache-2.0
// A lowered program bound to memory: the launches of a step in order, its inputs, and where its results are.
#pragma once

#include <vector>

#include "workloads/backend/backend.hpp"
#include "workloads/backend/cuda/module/input_checks.hpp"
#include "workloads/backend/cuda/module/kernels/numbers.hpp"
#include "workloads/backend/cuda/module/operation.hpp"
#include "workloads/backend/cuda/module/resources.hpp"
#include "workloads/lowering/memory_plan.hpp"

namespace gpusizer::cuda {

// What is copied from the host for a step: an input, or a scalar that changed.
struct BoundTensor {
  TensorId id;
  int64_t bytes = 0, staging_offset = 0;
  const void* source = nullptr;  // on the host: the last binding
  bool is_scalar = false;        // stays on the device until it is bound anew
  bool fresh = false;            // bound for the coming step
};

class CompiledProgram {
 public:
  // `arena`: where the plan begins. `program` must outlive this.
  CompiledProgram(const LoweredProgram& program, const ProgramPlacement& placed, std::byte* arena, const Traits& traits,
                  Libraries& libraries);

  // Takes note of what is bound for the next step. Throws Error(usage) for what cannot be bound, naming the tensor, or
  // for an input that never was; Error(input) for labels, indices or lengths that cannot be.
  void bind(StepInputs inputs);
  int64_t staging_bytes() const { return staging_bytes_; }
  // Copies what was bound to `pinned`, and from there to `staging` on `stream`.
  void stage(std::byte* pinned, std::byte* staging, cudaStream_t stream);
  // From `staging` to where the step reads it, in the device's layout.
  void unpack(const std::byte* staging, cudaStream_t stream);

  // Queues the whole step: as one graph once it has run before, unless graphs are off.
  void launch(cudaStream_t stream, bool with_graph);
  // Queues it operation by operation; `between(i)` is called before the launch that begins with operation i.
  template <class Between>
  void launch_each(cudaStream_t stream, Between between) const {
    for (const Step& step : steps_) {
      between(step.first);
      start(step, stream);
    }
  }

  const Numbers& results() const { return results_; }
  // From the collected numbers.
  StepResult result_of(const float* numbers) const;
  std::byte* address(TensorId id) const { return tensors_[static_cast<size_t>(id.index)]; }

 private:
  struct Step {
    int32_t first;  // operation; some take several
    Launch launch;
  };

  void place_tensors(const ProgramPlacement& placed, std::byte* arena);
  void list_inputs();
  void list_results();
  void prepare_steps(const ProgramPlacement& placed, std::byte* arena, const Traits& traits, Libraries& libraries);
  int32_t updates_from(int32_t first) const;
  void start(const Step& step, cudaStream_t stream) const;
  void capture(cudaStream_t stream);

  const LoweredProgram& lowered_;
  std::vector<std::byte*> tensors_;
  std::vector<BoundTensor> bound_;
  std::vector<InputCheck> checks_;
  std::vector<Step> steps_;
  Numbers results_;
  int64_t staging_bytes_ = 0;
  int64_t runs_ = 0;
  bool refuses_graph_ = false;
  GraphExec graph_;
};

}  // namespace gpusizer::cuda
