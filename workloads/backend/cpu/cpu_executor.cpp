// SPDX-License-Identifier: Apache-2.0
// Compiling programs into bound kernels, and running them.
#include "workloads/backend/cpu/cpu_executor.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "gpusizer/error.hpp"
#include "workloads/backend/cpu/rounding.hpp"
#include "workloads/backend/streams/check_ranks.hpp"

namespace gpusizer::cpu {

namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<LoweredProgram> require_cpu(std::vector<LoweredProgram> programs) {
  for (const LoweredProgram& p : programs)
    if (p.target != "cpu")
      throw Error(Fault::usage, fmt::format("program '{}' was lowered for '{}'", p.program.name, p.target), "cpu",
                  "lower it for this backend's target");
  return programs;
}

}  // namespace

CpuExecutor::CpuExecutor(std::vector<LoweredProgram> programs, int threads, Communicator* communicator)
    : programs_(require_cpu(std::move(programs))), communicator_(communicator), plan_(plan_memory(programs_)),
      arena_(plan_.peak_bytes()) {
  engine_.threads = std::max(1, threads);
  omp_set_num_threads(engine_.threads);
  Layouts::WeightNames weights;
  for (const LoweredProgram& p : programs_) Layouts(p.program, engine_.vector.lanes).add_weights(weights);
  for (size_t i = 0; i < programs_.size(); ++i) compiled_.push_back(compile(i, weights));
  if (std::ranges::any_of(compiled_, [](const Compiled& c) { return c.streams.communicates(); }))
    runner_ = std::make_unique<StreamRunner>(*communicator_, &background_);
}

CpuExecutor::Compiled CpuExecutor::compile(size_t index, const Layouts::WeightNames& weights) {
  const Program& program = programs_[index].program;
  const ProgramPlacement& placed = plan_.programs[index];
  Compiled c;
  c.layouts = std::make_unique<Layouts>(program, engine_.vector.lanes, weights);
  c.streams = stream_plan(program);
  check_ranks(program, communicator_);
  for (const Tensor& t : program.tensors) {
    const Placement& p = placed.tensors[static_cast<size_t>(t.id.index)];
    std::byte* address = p.bytes > 0 ? arena_.data() + p.offset : nullptr;
    c.tensors.push_back(address);
    if (t.role == Role::input) c.inputs.push_back(t.id);
    if (!is_persistent(t.role) || !address) continue;
    const Persistent entry{address, t.dtype, c.layouts->stored(t.id), c.layouts->plain(t.id)};
    if (entry.stored.get_size() > static_cast<size_t>(p.bytes))
      throw Error(Fault::failed, fmt::format("'{}' takes {} bytes and was given {}", t.name, entry.stored.get_size(), p.bytes),
                  program.name);
    const auto [known, added] = persistent_.try_emplace(t.name, entry);
    if (!added && known->second.stored != entry.stored)
      throw Error(Fault::failed, fmt::format("programs disagree on the layout of '{}'", t.name), program.name);
  }
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const KernelRequest request{engine_, *c.layouts, program, program.operations[i]};
    const bool computes = stream_of(program.operations[i].kind) == compute_stream;
    c.kernels.push_back(computes ? with_rounded_results(request, make_kernel(request)) : make_kernel(request));
    c.kernels.back()->bind({c.tensors, arena_.data() + placed.workspaces[i].offset, communicator_, &background_});
    c.tasks.push_back(computes ? nullptr : &dynamic_cast<CommunicationTask&>(*c.kernels.back()));
  }
  return c;
}

const CpuExecutor::Persistent& CpuExecutor::persistent(std::string_view name, size_t elements) const {
  const auto it = persistent_.find(name);
  if (it == persistent_.end())
    throw Error(Fault::usage, fmt::format("no program has a persistent tensor '{}'", name), "cpu");
  const auto extent = it->second.plain.get_size() / sizeof(float);
  if (extent != elements)
    throw Error(Fault::usage, fmt::format("tensor '{}' has {} elements, not {}", name, extent, elements), "cpu");
  return it->second;
}

void CpuExecutor::reorder(const onednn::Desc& from, void* source, const onednn::Desc& to, void* target) {
  dnnl::memory a(from, engine_.engine, source), b(to, engine_.engine, target);
  dnnl::reorder(a, b).execute(engine_.stream, a, b);
  engine_.stream.wait();
}

void CpuExecutor::write(std::string_view tensor, std::span<const float> values) {
  const Persistent& p = persistent(tensor, values.size());
  if (runner_) runner_->settle();
  if (p.dtype == DType::i32) {
    auto* out = reinterpret_cast<int32_t*>(p.address);
    std::ranges::transform(values, out, [](float v) { return static_cast<int32_t>(v); });
    return;
  }
  reorder(p.plain, const_cast<float*>(values.data()), p.stored, p.address);
}

void CpuExecutor::read(std::string_view tensor, std::span<float> values) {
  const Persistent& p = persistent(tensor, values.size());
  if (runner_) runner_->settle();
  if (p.dtype == DType::i32) {
    const auto* in = reinterpret_cast<const int32_t*>(p.address);
    std::transform(in, in + values.size(), values.begin(), [](int32_t v) { return static_cast<float>(v); });
    return;
  }
  reorder(p.stored, p.address, p.plain, values.data());
}

CpuExecutor::Compiled& CpuExecutor::compiled(int index) {
  if (index < 0 || static_cast<size_t>(index) >= compiled_.size())
    throw Error(Fault::usage, fmt::format("there is no program {}: the executor has {}", index, compiled_.size()), "cpu");
  return compiled_[static_cast<size_t>(index)];
}

namespace {

const Tensor& bound_tensor(const Program& program, const Binding& b) {
  if (b.id.index < 0 || static_cast<size_t>(b.id.index) >= program.tensors.size())
    throw Error(Fault::usage, fmt::format("there is no tensor {} to bind", b.id.index), program.name);
  const Tensor& t = program.tensor(b.id);
  if (t.role != Role::input && t.role != Role::scalar)
    throw Error(Fault::usage, fmt::format("tensor '{}' is a {} and cannot be bound", t.name, to_string(t.role)),
                program.name);
  if (!b.data) throw Error(Fault::usage, fmt::format("input '{}' is bound to nothing", t.name), program.name);
  return t;
}

}  // namespace

// Inputs stay where they are; scalars live in the arena and are copied.
void CpuExecutor::bind(Compiled& compiled, const Program& program, StepInputs inputs) {
  for (const Binding& b : inputs) {
    const Tensor& t = bound_tensor(program, b);
    auto& slot = compiled.tensors[static_cast<size_t>(b.id.index)];
    if (t.role == Role::input) {
      slot = const_cast<std::byte*>(static_cast<const std::byte*>(b.data));
    } else if (slot) {
      std::memcpy(slot, b.data, static_cast<size_t>(element_count(t.shape) * element_bytes(t.dtype)));
    }
  }
  for (const TensorId id : compiled.inputs)
    if (!compiled.tensors[static_cast<size_t>(id.index)])
      throw Error(Fault::usage, fmt::format("input '{}' was never bound", program.tensor(id).name), program.name);
}

void CpuExecutor::enqueue(int index, StepInputs inputs) {
  if (result_count_ == in_flight)
    throw Error(Fault::usage, fmt::format("{} runs are in flight already: collect one first", in_flight), "cpu");
  Compiled& compiled = this->compiled(index);
  omp_set_num_threads(engine_.threads);
  bind(compiled, programs_[static_cast<size_t>(index)].program, inputs);
  const double start = now_seconds(), exposed = run(compiled, {});
  results_[(first_result_ + result_count_++) % in_flight] =
      result_of(static_cast<size_t>(index), now_seconds() - start, exposed);
}

// What the runner of streams asks for.
class CpuExecutor::Work final : public StepWork {
 public:
  Work(Compiled& compiled, std::span<double> seconds) : compiled_(compiled), seconds_(seconds) {}
  void compute(int32_t operation) override {
    const auto i = static_cast<size_t>(operation);
    if (seconds_.empty()) return compiled_.kernels[i]->run();
    const double start = now_seconds();
    compiled_.kernels[i]->run();
    seconds_[i] = now_seconds() - start;
  }
  CommunicationTask& task(int32_t operation) override { return *compiled_.tasks[static_cast<size_t>(operation)]; }

 private:
  Compiled& compiled_;
  std::span<double> seconds_;
};

// Runs a program and returns for how long its computation stood still. `operation_seconds`: empty, or one for each.
double CpuExecutor::run(Compiled& compiled, std::span<double> operation_seconds) {
  Work work(compiled, operation_seconds);
  if (compiled.streams.communicates()) return runner_->run(compiled.streams, work, operation_seconds);
  for (size_t i = 0; i < compiled.kernels.size(); ++i) work.compute(static_cast<int32_t>(i));
  return 0;
}

StepResult CpuExecutor::result_of(size_t index, double seconds, double exposed_seconds) {
  const Program& p = programs_[index].program;
  const auto value = [&](TensorId id) {
    if (id.index < 0) return 0.0;
    const std::byte* address = compiled_[index].tensors[static_cast<size_t>(id.index)];
    return address ? static_cast<double>(*reinterpret_cast<const float*>(address)) : 0.0;
  };
  StepResult r{steps_++, value(p.loss), value(p.correct), true, seconds, exposed_seconds};
  r.finite = std::isfinite(r.loss);
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    r.outputs[i] = value(p.outputs[i].value);
    r.counts[i] = p.outputs[i].count.index >= 0 ? value(p.outputs[i].count) : static_cast<double>(p.batch);
  }
  return r;
}

std::optional<StepResult> CpuExecutor::collect() {
  if (result_count_ == 0) return std::nullopt;
  const StepResult r = results_[first_result_];
  first_result_ = (first_result_ + 1) % in_flight;
  --result_count_;
  return r;
}

std::vector<OperationTime> CpuExecutor::profile(int index, StepInputs inputs) {
  Compiled& compiled = this->compiled(index);
  omp_set_num_threads(engine_.threads);
  bind(compiled, programs_[static_cast<size_t>(index)].program, inputs);
  std::vector<double> seconds(compiled.kernels.size(), 0);
  run(compiled, seconds);
  std::vector<OperationTime> times;
  for (size_t i = 0; i < seconds.size(); ++i) times.push_back({static_cast<int32_t>(i), seconds[i]});
  return times;
}

}  // namespace gpusizer::cpu
