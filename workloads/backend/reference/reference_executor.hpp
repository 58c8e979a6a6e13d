// SPDX-License-Identifier: Apache-2.0
// Runs lowered programs with plain loops in double, one operation after the other; communication goes on beside them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "workloads/backend/backend.hpp"
#include "workloads/backend/reference/kernels.hpp"
#include "workloads/backend/streams/stream_runner.hpp"

namespace gpusizer {

// Every tensor is a vector of double of its own; nothing shares memory, so each value of a step can be looked at
// afterwards. f16, bf16 and tf32 tensors hold values rounded to their type. Persistent tensors start as NaN.
class ReferenceExecutor final : public Executor {
 public:
  // Throws Error(usage) where two programs have a persistent tensor of the same name and different shapes, and where a
  // program communicates and there is no communicator.
  explicit ReferenceExecutor(std::vector<LoweredProgram> programs, Communicator* communicator = nullptr);

  void write(std::string_view tensor, std::span<const float> values) override;
  void read(std::string_view tensor, std::span<float> values) override;
  void enqueue(int program, StepInputs inputs) override;
  std::optional<StepResult> collect() override;
  std::vector<OperationTime> profile(int program, StepInputs inputs) override;
  int64_t allocated_bytes() const override;
  const LoweredProgram& program(int index) const override { return programs_[checked(index)].lowered; }

  // The contract's write and read without rounding.
  void write_double(std::string_view tensor, std::span<const double> values);
  void read_double(std::string_view tensor, std::span<double> values) const;
  // Any tensor of a program as the last run left it (activations and gradients too), to look at or to change; empty
  // where no operation touches it. Valid as long as the executor.
  std::span<double> values(int program, TensorId id) const;

 private:
  struct Compiled {
    LoweredProgram lowered;
    std::vector<std::vector<double>> own;  // by tensor; empty for persistent and untouched ones
    std::vector<std::span<double>> values;  // by tensor, wherever they are
    std::vector<reference::Call> calls;     // by operation
    std::vector<void (*)(const reference::Call&)> kernels;             // nullptr: it communicates
    std::vector<std::unique_ptr<CommunicationTask>> tasks;  // nullptr: it computes
    StreamPlan streams;
    std::vector<bool> bound;                // by tensor: inputs that have been given data
  };
  struct Persistent {
    Shape shape;
    DType dtype;
    std::vector<double> values;
  };

  class Work;

  std::span<double> shared_values(const Tensor& tensor);
  void place_tensors(Compiled& c);
  void make_calls(Compiled& c);
  size_t checked(int program) const;
  const Persistent& persistent(std::string_view name, size_t elements) const;
  void bind(Compiled& c, StepInputs inputs);
  double run(Compiled& c, std::span<double> operation_seconds);

  Communicator* communicator_;
  std::vector<Compiled> programs_;
  std::map<std::string, Persistent, std::less<>> persistent_;
  std::deque<StepResult> finished_;
  int64_t steps_ = 0;
  BackgroundCollectives background_;
  std::unique_ptr<StreamRunner> runner_;  // where a program communicates; the first to go
};

}  // namespace gpusizer
