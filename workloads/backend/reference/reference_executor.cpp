// SPDX-License-Identifier: Apache-2.0
// Gives every tensor its values, every operation its kernel, and runs them in order.
#include "workloads/backend/reference/reference_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "gpusizer/error.hpp"
#include "workloads/backend/streams/check_ranks.hpp"
#include "workloads/backend/streams/communication.hpp"
#include "workloads/program/rounding.hpp"

namespace gpusizer {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Runs `work` and returns the seconds it took.
template <class Work>
double timed(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// How many values a tensor takes; those of a `saved` tensor are known to the operation that writes it.
int64_t elements(const Program& p, const Tensor& t, int32_t writer) {
  if (t.dtype != DType::opaque) return element_count(t.shape);
  const Operation& op = p.operations[static_cast<size_t>(writer)];
  const auto count = reference::kernel(op.kind).saved_elements;
  return count ? count(p, op) : 0;
}

// Emulated precision: a tensor of a short type holds values of that type.
void round_values(DType dtype, std::span<double> values) {
  if (!is_rounded(dtype)) return;
  for (double& v : values) v = round_to(dtype, static_cast<float>(v));
}

void round_results(const reference::Call& call, const Program& p) {
  for (size_t i = 0; i < call.outputs.size(); ++i)
    round_values(p.tensor(call.operation->outputs[i]).dtype, call.outputs[i].values);
}

void run_one(const reference::Call& call, void (*kernel)(const reference::Call&), const Program& p) {
  kernel(call);
  round_results(call, p);
}

// Tensors go to other ranks as they are here: in double.
class Communication final : public CommunicationTask {
 public:
  Communication(const Program& program, const reference::Call& call, Communicator& communicator,
                BackgroundCollectives& background)
      : program_(program), call_(call) {
    CommunicationBuffers buffers{.element = Element::f64};
    std::vector<size_t> input_bytes;
    for (const auto& view : call.inputs) {
      auto* values = const_cast<double*>(view.values.data());
      buffers.inputs.push_back(std::as_writable_bytes(std::span{values, view.values.size()}));
      input_bytes.push_back(view.values.size_bytes());
    }
    for (const auto& view : call.outputs) buffers.outputs.push_back(std::as_writable_bytes(view.values));
    staging_.resize(communication_staging_bytes(*call.operation, input_bytes));
    buffers.staging = staging_;
    task_ = communication_task(*call.operation, communicator, buffers, background);
  }
  void start() override { task_->start(); }
  bool advance() override {
    if (!task_->advance()) return false;
    round_results(call_, program_);
    return true;
  }

 private:
  const Program& program_;
  reference::Call call_;
  std::vector<std::byte> staging_;
  std::unique_ptr<CommunicationTask> task_;
};

template <class From>
void copy_from(const void* data, std::span<double> to) {
  const auto* from = static_cast<const From*>(data);
  std::copy(from, from + to.size(), to.begin());
}

}  // namespace

ReferenceExecutor::ReferenceExecutor(std::vector<LoweredProgram> programs, Communicator* communicator)
    : communicator_(communicator) {
  programs_.reserve(programs.size());
  for (LoweredProgram& lowered : programs) {
    Compiled& c = programs_.emplace_back(Compiled{.lowered = std::move(lowered)});
    const size_t count = c.lowered.program.tensors.size();
    c.own.resize(count);
    c.values.resize(count);
    c.bound.resize(count, false);
    check_ranks(c.lowered.program, communicator);
    c.streams = stream_plan(c.lowered.program);
    place_tensors(c);
    make_calls(c);
    if (c.streams.communicates() && !runner_) runner_ = std::make_unique<StreamRunner>(*communicator, &background_);
  }
}

std::span<double> ReferenceExecutor::shared_values(const Tensor& t) {
  const auto count = static_cast<size_t>(element_count(t.shape));
  const auto it = persistent_.try_emplace(t.name, Persistent{t.shape, t.dtype, std::vector<double>(count, unknown)}).first;
  const Persistent& known = it->second;
  if (known.shape != t.shape || known.dtype != t.dtype)
    throw Error(Fault::usage, fmt::format("the programs disagree about '{}': {} {} and {} {}", t.name,
                                          to_string(known.dtype), to_string(known.shape), to_string(t.dtype),
                                          to_string(t.shape)));
  return it->second.values;
}

void ReferenceExecutor::place_tensors(Compiled& c) {
  const Program& p = c.lowered.program;
  const std::vector<int32_t> written_by = writers(p);
  const auto read_by = readers(p);
  for (size_t i = 0; i < p.tensors.size(); ++i) {
    if (is_persistent(p.tensors[i].role)) {
      c.values[i] = shared_values(p.tensors[i]);
    } else if (written_by[i] >= 0 || !read_by[i].empty()) {
      c.own[i].assign(static_cast<size_t>(elements(p, p.tensors[i], written_by[i])), unknown);
      c.values[i] = c.own[i];
    }
  }
}

void ReferenceExecutor::make_calls(Compiled& c) {
  const Program& p = c.lowered.program;
  for (const Operation& op : p.operations) {
    reference::Call call{&op, {}, {}};
    for (const TensorId id : op.inputs)
      call.inputs.push_back({&p.tensor(id).shape, c.values[static_cast<size_t>(id.index)]});
    for (const TensorId id : op.outputs)
      call.outputs.push_back({&p.tensor(id).shape, c.values[static_cast<size_t>(id.index)]});
    const bool computes = stream_of(op.kind) == compute_stream;
    c.kernels.push_back(computes ? reference::kernel(op.kind).run : nullptr);
    c.tasks.push_back(computes ? nullptr : std::make_unique<Communication>(p, call, *communicator_, background_));
    c.calls.push_back(std::move(call));
  }
}

size_t ReferenceExecutor::checked(int index) const {
  if (index < 0 || static_cast<size_t>(index) >= programs_.size())
    throw Error(Fault::usage, fmt::format("there is no program {}: the executor has {}", index, programs_.size()));
  return static_cast<size_t>(index);
}

const ReferenceExecutor::Persistent& ReferenceExecutor::persistent(std::string_view name, size_t count) const {
  const auto it = persistent_.find(name);
  if (it == persistent_.end()) throw Error(Fault::usage, fmt::format("no program has a persistent tensor '{}'", name));
  if (it->second.values.size() != count)
    throw Error(Fault::usage, fmt::format("tensor '{}' {} has {} elements, not {}", name, to_string(it->second.shape),
                                          it->second.values.size(), count));
  return it->second;
}

void ReferenceExecutor::write_double(std::string_view tensor, std::span<const double> values) {
  persistent(tensor, values.size());
  if (runner_) runner_->settle();
  Persistent& to = persistent_.find(tensor)->second;
  std::ranges::copy(values, to.values.begin());
  round_values(to.dtype, to.values);
}

void ReferenceExecutor::read_double(std::string_view tensor, std::span<double> values) const {
  if (runner_) runner_->settle();
  std::ranges::copy(persistent(tensor, values.size()).values, values.begin());
}

void ReferenceExecutor::write(std::string_view tensor, std::span<const float> values) {
  write_double(tensor, std::vector<double>(values.begin(), values.end()));
}

void ReferenceExecutor::read(std::string_view tensor, std::span<float> values) {
  if (runner_) runner_->settle();
  std::ranges::transform(persistent(tensor, values.size()).values, values.begin(),
                         [](double value) { return static_cast<float>(value); });
}

std::span<double> ReferenceExecutor::values(int program, TensorId id) const {
  return programs_[checked(program)].values.at(static_cast<size_t>(id.index));
}

void ReferenceExecutor::bind(Compiled& c, StepInputs inputs) {
  const Program& p = c.lowered.program;
  for (const Binding& b : inputs) {
    if (b.id.index < 0 || static_cast<size_t>(b.id.index) >= p.tensors.size())
      throw Error(Fault::usage, fmt::format("program '{}' has no tensor {} to bind", p.name, b.id.index));
    const Tensor& t = p.tensor(b.id);
    if ((t.role != Role::input && t.role != Role::scalar) || !b.data)
      throw Error(Fault::usage, fmt::format("'{}' cannot be bound: it is {}", t.name,
                                            b.data ? to_string(t.role) : "given no data"));
    if (t.dtype != DType::i32 && t.dtype != DType::f32)
      throw Error(Fault::usage, fmt::format("'{}' cannot be bound: it is {}; inputs are f32 or i32", t.name, to_string(t.dtype)));
    const auto index = static_cast<size_t>(b.id.index);
    t.dtype == DType::i32 ? copy_from<int32_t>(b.data, c.values[index]) : copy_from<float>(b.data, c.values[index]);
    c.bound[index] = true;
  }
  for (const Tensor& t : p.tensors)
    if (t.role == Role::input && !c.bound[static_cast<size_t>(t.id.index)] && !c.values[static_cast<size_t>(t.id.index)].empty())
      throw Error(Fault::usage, fmt::format("input '{}' of program '{}' was never bound", t.name, p.name));
}

// What the runner of streams asks for.
class ReferenceExecutor::Work final : public StepWork {
 public:
  Work(Compiled& c, std::span<double> seconds) : c_(c), seconds_(seconds) {}
  void compute(int32_t operation) override {
    const auto i = static_cast<size_t>(operation);
    const double seconds = timed([&] { run_one(c_.calls[i], c_.kernels[i], c_.lowered.program); });
    if (!seconds_.empty()) seconds_[i] = seconds;
  }
  CommunicationTask& task(int32_t operation) override { return *c_.tasks[static_cast<size_t>(operation)]; }

 private:
  Compiled& c_;
  std::span<double> seconds_;
};

double ReferenceExecutor::run(Compiled& c, std::span<double> operation_seconds) {
  Work work(c, operation_seconds);
  if (c.streams.communicates()) return runner_->run(c.streams, work, operation_seconds);
  for (size_t i = 0; i < c.calls.size(); ++i) work.compute(static_cast<int32_t>(i));
  return 0;
}

void ReferenceExecutor::enqueue(int program, StepInputs inputs) {
  Compiled& c = programs_[checked(program)];
  bind(c, inputs);
  StepResult result{.step = steps_};
  const Program& p = c.lowered.program;
  result.device_seconds = timed([&] { result.exposed_seconds = run(c, {}); });
  if (p.loss.index >= 0) result.loss = values(program, p.loss)[0];
  if (p.correct.index >= 0) result.correct = values(program, p.correct)[0];
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    const ProgramOutput& out = p.outputs[i];
    result.outputs[i] = values(program, out.value)[0];
    result.counts[i] = out.count.index >= 0 ? values(program, out.count)[0] : static_cast<double>(p.batch);
  }
  result.finite = std::isfinite(result.loss);
  ++steps_;
  finished_.push_back(result);
}

std::optional<StepResult> ReferenceExecutor::collect() {
  if (finished_.empty()) return std::nullopt;
  const StepResult result = finished_.front();
  finished_.pop_front();
  return result;
}

std::vector<OperationTime> ReferenceExecutor::profile(int program, StepInputs inputs) {
  Compiled& c = programs_[checked(program)];
  bind(c, inputs);
  std::vector<double> seconds(c.calls.size(), 0);
  run(c, seconds);
  std::vector<OperationTime> times;
  for (size_t i = 0; i < seconds.size(); ++i) times.push_back({static_cast<int32_t>(i), seconds[i]});
  return times;
}

int64_t ReferenceExecutor::allocated_bytes() const {
  size_t count = 0;
  for (const auto& [name, tensor] : persistent_) count += tensor.values.size();
  for (const Compiled& c : programs_)
    for (const auto& values : c.own) count += values.size();
  return static_cast<int64_t>(count * sizeof(double));
}

}  // namespace gpusizer
