// SPDX-License-Identifier: Apache-2.0
// Runs lowered programs on one GPU: one arena, two steps in flight, inputs copied while the step before computes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "workloads/backend/backend.hpp"
#include "workloads/backend/cuda/module/compiled_program.hpp"
#include "workloads/backend/cuda/module/libraries.hpp"

namespace gpusizer::cuda {

struct ExecutorOptions {
  int device = 0;
  Traits traits;
  std::string target;   // that programs must have been lowered for
  bool graphs = true;   // a step is one graph launch
};

class CudaExecutor final : public Executor {
 public:
  CudaExecutor(std::vector<LoweredProgram> programs, const ExecutorOptions& options);
  ~CudaExecutor() override;

  void write(std::string_view tensor, std::span<const float> values) override;
  void read(std::string_view tensor, std::span<float> values) override;
  void enqueue(int program, StepInputs inputs) override;
  std::optional<StepResult> collect() override;
  std::vector<OperationTime> profile(int program, StepInputs inputs) override;
  int64_t allocated_bytes() const override { return arena_.bytes(); }
  const LoweredProgram& program(int index) const override { return programs_.at(static_cast<size_t>(index)); }

 private:
  static constexpr size_t in_flight = 2;
  // What a step in flight uses, and nobody else until it was collected.
  struct Slot {
    PinnedMemory inputs, numbers;
    DeviceMemory staging;
    Event copied, started, finished, read_back;
    int64_t step = 0;
    size_t program = 0;
  };
  struct Persistent {
    std::byte* address;
    Tensor tensor;
  };

  CompiledProgram& compiled(int index);
  void list_persistent(size_t index);
  const Persistent& persistent(std::string_view name, size_t elements) const;
  void send_inputs(CompiledProgram& program, Slot& slot);
  Slot& slot_of(size_t number) { return slots_[number % in_flight]; }

  std::vector<LoweredProgram> programs_;
  ExecutorOptions options_;
  MemoryPlan plan_;
  Stream compute_, copy_;
  DeviceMemory arena_, numbers_;
  Libraries libraries_;
  std::vector<std::unique_ptr<CompiledProgram>> compiled_;
  std::map<std::string, Persistent, std::less<>> persistent_;
  Slot slots_[in_flight];
  size_t first_ = 0, count_ = 0;  // of the slots in use
  int64_t steps_ = 0;
};

}  // namespace gpusizer::cuda
