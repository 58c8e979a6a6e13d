// SPDX-License-Identifier: Apache-2.0
// The contract between what is trained and what it runs on: backends, devices and executors.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/lowering/lowered_program.hpp"

namespace gpusizer {

struct Device {
  std::string backend;  // "cpu"
  std::string name;     // "cpu", later "cuda:0"
  std::string model;    // what is sold under a name: "AMD EPYC 9B14", "NVIDIA H100 80GB HBM3"
  int threads = 0;      // CPU devices: threads that compute
  uint64_t memory_bytes = 0;  // usable for the program
};

// What a backend finds on this machine: devices, or the reason why there are none, as one sentence for a person.
struct Probe {
  std::vector<Device> devices;
  std::string reason;
};

// One tensor's value for the coming steps: row-major elements of the tensor's element type. The data must stay
// unchanged until the step's result was collected.
struct Binding {
  TensorId id;  // in the program that is run
  const void* data;
};
using StepInputs = std::span<const Binding>;

struct StepResult {
  int64_t step = 0;           // counts every enqueued run, from 0
  double loss = 0;            // mean over the batch
  double correct = 0;         // samples whose largest logit is the label
  bool finite = true;         // false: the loss is NaN or infinite
  double device_seconds = 0;  // the step alone, as the device saw it
  double exposed_seconds = 0;  // of it: computation stood still for communication
  // The program's outputs in their order: value and count.
  std::array<double, most_program_outputs> outputs{}, counts{};
};

struct OperationTime {
  int32_t operation;  // index in the lowered program
  double seconds;
};

// Runs several programs that share persistent tensors by name (training, its tail batch, evaluation ...): compiled
// once, run many times. Not thread-safe: one thread drives it.
class Executor {
 public:
  virtual ~Executor() = default;

  // Values of a persistent tensor, row-major; `values` has exactly its elements. Throws Error(usage) otherwise.
  virtual void write(std::string_view tensor, std::span<const float> values) = 0;
  virtual void read(std::string_view tensor, std::span<float> values) = 0;

  // Starts one run of a program. A device with a queue returns at once, and two runs may be in flight; on the CPU
  // backend the host is the device, so the work is done when this returns. Unbound inputs keep their last binding.
  virtual void enqueue(int program, StepInputs inputs) = 0;
  // The oldest finished run's result, waiting for it if need be; nothing when no run is in flight.
  virtual std::optional<StepResult> collect() = 0;

  // One run with each operation timed apart: slower than a real step, never used for a throughput.
  virtual std::vector<OperationTime> profile(int program, StepInputs inputs) = 0;

  // Bytes that the executor holds on the device; compare with the memory plan's peak.
  virtual int64_t allocated_bytes() const = 0;
  virtual const LoweredProgram& program(int index) const = 0;
};

class Communicator;  // communicator/communicator.hpp

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;
  virtual Probe probe() const = 0;
  // What lowering must know to plan programs for that device. `threads` of the device count.
  virtual Target target(const Device& device) const = 0;
  // All programs must have been lowered for target(device). Persistent tensors start undefined: see initialize().
  // Programs of several ranks need the communicator that joins them; it must outlive the executor, which uses it from
  // threads of its own while a run is in flight.
  virtual std::unique_ptr<Executor> make_executor(std::vector<LoweredProgram> programs, const Device& device,
                                                  Communicator* communicator = nullptr) const = 0;
  // Name and version of each library that computes: {"oneDNN", "2.6.3"}.
  virtual std::vector<std::pair<std::string, std::string>> libraries() const { return {}; }
};

// Writes the starting value of every persistent tensor of the executor's programs.
void initialize(Executor& executor, int program_count, uint64_t seed);

// The table of backends. To add one: a folder beside this file, and a line in the table of backend.cpp.
std::vector<std::unique_ptr<Backend>> make_backends();
// Throws Error(usage) for an unknown name.
std::unique_ptr<Backend> make_backend(std::string_view name);

}  // namespace gpusizer
