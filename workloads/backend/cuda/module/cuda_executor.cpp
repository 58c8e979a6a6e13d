// SPDX-License-Identifier: Apache-2.0
// Two steps in flight: copies on one stream, computation on another, results read back without stopping either.
#include "workloads/backend/cuda/module/cuda_executor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/backend/cuda/module/host_layout.hpp"

namespace gpusizer::cuda {

namespace {

std::vector<LoweredProgram> require_target(std::vector<LoweredProgram> programs, const std::string& target) {
  for (const LoweredProgram& p : programs)
    if (p.target != target)
      throw Error(Fault::usage, fmt::format("program '{}' was lowered for '{}', not for '{}'", p.program.name, p.target, target),
                  "cuda", "lower it for this backend's target");
  return programs;
}

// Must come before anything is made on the device.
const ExecutorOptions& on_device(const ExecutorOptions& options) {
  GPUSIZER_CHECK(cudaSetDevice(options.device));
  return options;
}

}  // namespace

CudaExecutor::CudaExecutor(std::vector<LoweredProgram> programs, const ExecutorOptions& options)
    : programs_(require_target(std::move(programs), options.target)), options_(on_device(options)),
      plan_(plan_memory(programs_)), compute_(make_stream()), copy_(make_stream()), arena_(plan_.peak_bytes()),
      numbers_(static_cast<int64_t>(sizeof(float)) * Numbers::most) {
  int64_t staging = 0;
  for (size_t i = 0; i < programs_.size(); ++i) {
    compiled_.push_back(std::make_unique<CompiledProgram>(programs_[i], plan_.programs[i], arena_.data(), options_.traits,
                                                          libraries_));
    staging = std::max(staging, compiled_.back()->staging_bytes());
    list_persistent(i);
  }
  for (Slot& slot : slots_)
    slot = {PinnedMemory(staging), PinnedMemory(static_cast<int64_t>(sizeof(float)) * Numbers::most), DeviceMemory(staging),
            make_event(), make_event(true), make_event(true), make_event()};
}

// Nothing may still run when memory goes.
CudaExecutor::~CudaExecutor() {
  (void)cudaStreamSynchronize(copy_.get());
  (void)cudaStreamSynchronize(compute_.get());
}

void CudaExecutor::list_persistent(size_t index) {
  for (const Tensor& t : programs_[index].program.tensors)
    if (std::byte* address = compiled_[index]->address(t.id); is_persistent(t.role) && address)
      persistent_.try_emplace(t.name, Persistent{address, t});
}

const CudaExecutor::Persistent& CudaExecutor::persistent(std::string_view name, size_t elements) const {
  const auto it = persistent_.find(name);
  if (it == persistent_.end())
    throw Error(Fault::usage, fmt::format("no program has a persistent tensor '{}'", name), "cuda");
  const auto extent = static_cast<size_t>(element_count(it->second.tensor.shape));
  if (extent != elements)
    throw Error(Fault::usage, fmt::format("tensor '{}' has {} elements, not {}", name, extent, elements), "cuda");
  return it->second;
}

void CudaExecutor::write(std::string_view tensor, std::span<const float> values) {
  const Persistent& p = persistent(tensor, values.size());
  GPUSIZER_CHECK(cudaSetDevice(options_.device));
  const std::vector<std::byte> stored = to_device_layout(p.tensor, values);
  GPUSIZER_CHECK(cudaStreamSynchronize(compute_.get()));
  GPUSIZER_CHECK(cudaMemcpyAsync(p.address, stored.data(), stored.size(), cudaMemcpyHostToDevice, compute_.get()));
  GPUSIZER_CHECK(cudaStreamSynchronize(compute_.get()));
}

void CudaExecutor::read(std::string_view tensor, std::span<float> values) {
  const Persistent& p = persistent(tensor, values.size());
  GPUSIZER_CHECK(cudaSetDevice(options_.device));
  std::vector<std::byte> stored(static_cast<size_t>(stored_bytes(p.tensor)));
  GPUSIZER_CHECK(cudaMemcpyAsync(stored.data(), p.address, stored.size(), cudaMemcpyDeviceToHost, compute_.get()));
  GPUSIZER_CHECK(cudaStreamSynchronize(compute_.get()));
  from_device_layout(p.tensor, stored, values);
}

CompiledProgram& CudaExecutor::compiled(int index) {
  if (index < 0 || static_cast<size_t>(index) >= compiled_.size())
    throw Error(Fault::usage, fmt::format("there is no program {}: the executor has {}", index, compiled_.size()), "cuda");
  return *compiled_[static_cast<size_t>(index)];
}

// The copies wait for nothing but the slot, whose last step was collected; the step waits for the copies.
void CudaExecutor::send_inputs(CompiledProgram& program, Slot& slot) {
  program.stage(slot.inputs.data(), slot.staging.data(), copy_.get());
  GPUSIZER_CHECK(cudaEventRecord(slot.copied.get(), copy_.get()));
  GPUSIZER_CHECK(cudaStreamWaitEvent(compute_.get(), slot.copied.get(), 0));
  program.unpack(slot.staging.data(), compute_.get());
}

void CudaExecutor::enqueue(int index, StepInputs inputs) {
  if (count_ == in_flight)
    throw Error(Fault::usage, fmt::format("{} runs are in flight already: collect one first", in_flight), "cuda");
  CompiledProgram& program = compiled(index);
  program.bind(inputs);
  GPUSIZER_CHECK(cudaSetDevice(options_.device));
  Slot& slot = slot_of(first_ + count_);
  send_inputs(program, slot);
  GPUSIZER_CHECK(cudaEventRecord(slot.started.get(), compute_.get()));
  program.launch(compute_.get(), options_.graphs);
  GPUSIZER_CHECK(cudaEventRecord(slot.finished.get(), compute_.get()));
  auto* numbers = reinterpret_cast<float*>(numbers_.data());
  GPUSIZER_CHECK(collect_numbers(program.results(), numbers, compute_.get()));
  GPUSIZER_CHECK(cudaMemcpyAsync(slot.numbers.data(), numbers, sizeof(float) * Numbers::most, cudaMemcpyDeviceToHost,
                                 compute_.get()));
  GPUSIZER_CHECK(cudaEventRecord(slot.read_back.get(), compute_.get()));
  slot.step = steps_++;
  slot.program = static_cast<size_t>(index);
  ++count_;
}

std::optional<StepResult> CudaExecutor::collect() {
  if (count_ == 0) return std::nullopt;
  Slot& slot = slot_of(first_);
  first_ = (first_ + 1) % in_flight;
  --count_;
  GPUSIZER_CHECK(cudaEventSynchronize(slot.read_back.get()));
  StepResult r = compiled_[slot.program]->result_of(reinterpret_cast<const float*>(slot.numbers.data()));
  r.step = slot.step;
  r.device_seconds = seconds_between(slot.started, slot.finished);
  return r;
}

std::vector<OperationTime> CudaExecutor::profile(int index, StepInputs inputs) {
  CompiledProgram& program = compiled(index);
  program.bind(inputs);
  GPUSIZER_CHECK(cudaSetDevice(options_.device));
  GPUSIZER_CHECK(cudaStreamSynchronize(compute_.get()));
  send_inputs(program, slot_of(first_ + count_));
  std::vector<std::pair<int32_t, Event>> marks;
  const auto mark = [&](int32_t operation) {
    marks.emplace_back(operation, make_event(true));
    GPUSIZER_CHECK(cudaEventRecord(marks.back().second.get(), compute_.get()));
  };
  program.launch_each(compute_.get(), mark);
  mark(static_cast<int32_t>(programs_[static_cast<size_t>(index)].program.operations.size()));
  GPUSIZER_CHECK(cudaStreamSynchronize(compute_.get()));
  // Operations that go into one launch with others are the first one's time.
  std::vector<OperationTime> times;
  for (int32_t i = 0; i < marks.back().first; ++i) times.push_back({i, 0});
  for (size_t i = 0; i + 1 < marks.size(); ++i)
    times[static_cast<size_t>(marks[i].first)].seconds = seconds_between(marks[i].second, marks[i + 1].second);
  return times;
}

}  // namespace gpusizer::cuda
