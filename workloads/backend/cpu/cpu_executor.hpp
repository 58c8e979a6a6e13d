// SPDX-License-Identifier: Apache-2.0
// Runs lowered programs on the CPU: one arena, one list of bound kernels for each program, communication beside it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "workloads/backend/backend.hpp"
#include "workloads/backend/cpu/arena.hpp"
#include "workloads/backend/cpu/kernel.hpp"
#include "workloads/backend/streams/stream_runner.hpp"
#include "workloads/lowering/memory_plan.hpp"

namespace gpusizer::cpu {

class CpuExecutor final : public Executor {
 public:
  // Without a communicator no program may communicate: Error(usage).
  CpuExecutor(std::vector<LoweredProgram> programs, int threads, Communicator* communicator = nullptr);

  void write(std::string_view tensor, std::span<const float> values) override;
  void read(std::string_view tensor, std::span<float> values) override;
  void enqueue(int program, StepInputs inputs) override;
  std::optional<StepResult> collect() override;
  std::vector<OperationTime> profile(int program, StepInputs inputs) override;
  int64_t allocated_bytes() const override { return arena_.bytes(); }
  const LoweredProgram& program(int index) const override { return programs_.at(static_cast<size_t>(index)); }

 private:
  struct Compiled {
    std::unique_ptr<Layouts> layouts;
    std::vector<std::byte*> tensors;  // where each tensor is; a bound input's address changes
    std::vector<TensorId> inputs;     // that must be bound
    std::vector<std::unique_ptr<Kernel>> kernels;
    std::vector<CommunicationTask*> tasks;  // by operation; nullptr for what computes
    StreamPlan streams;
  };
  class Work;
  // Where a persistent tensor is and how it lies.
  struct Persistent {
    std::byte* address;
    DType dtype;
    onednn::Desc stored, plain;
  };

  Compiled compile(size_t index, const Layouts::WeightNames& weights);
  Compiled& compiled(int index);
  double run(Compiled& compiled, std::span<double> operation_seconds);
  void bind(Compiled& compiled, const Program& program, StepInputs inputs);
  void reorder(const onednn::Desc& from, void* source, const onednn::Desc& to, void* target);
  const Persistent& persistent(std::string_view name, size_t elements) const;
  StepResult result_of(size_t index, double seconds, double exposed_seconds);

  std::vector<LoweredProgram> programs_;
  Communicator* communicator_;
  Engine engine_;
  MemoryPlan plan_;
  Arena arena_;
  std::vector<Compiled> compiled_;
  std::map<std::string, Persistent, std::less<>> persistent_;
  // Finished runs that were not collected yet: a ring, so that a step allocates nothing.
  static constexpr size_t in_flight = 2;
  StepResult results_[in_flight];
  size_t first_result_ = 0, result_count_ = 0;
  int64_t steps_ = 0;
  BackgroundCollectives background_;
  std::unique_ptr<StreamRunner> runner_;  // where a program communicates; the first to go
};

}  // namespace gpusizer::cpu
