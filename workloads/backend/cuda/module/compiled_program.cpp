// SPDX-License-Identifier: Apache-2.0
// Binding operations to memory, and running them.
#include "workloads/backend/cuda/module/compiled_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gpusizer/error.hpp"
#include "workloads/backend/cuda/module/kernels/rows.hpp"
#include "workloads/backend/device_memory.hpp"
#include "workloads/lowering/happens_before.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer::cuda {

CompiledProgram::CompiledProgram(const LoweredProgram& program, const ProgramPlacement& placed, std::byte* arena,
                                 const Traits& traits, Libraries& libraries)
    : lowered_(program), checks_(input_checks(program.program)) {
  place_tensors(placed, arena);
  list_inputs();
  list_results();
  prepare_steps(placed, arena, traits, libraries);
}

void CompiledProgram::place_tensors(const ProgramPlacement& placed, std::byte* arena) {
  for (const Tensor& t : lowered_.program.tensors) {
    const Placement& p = placed.tensors[static_cast<size_t>(t.id.index)];
    tensors_.push_back(p.bytes > 0 ? arena + p.offset : nullptr);
  }
}

void CompiledProgram::list_inputs() {
  for (const Tensor& t : lowered_.program.tensors) {
    if (t.role != Role::input && t.role != Role::scalar) continue;
    const bool used = address(t.id) != nullptr;
    bound_.push_back({.id = t.id, .bytes = used ? element_count(t.shape) * 4 : 0, .staging_offset = staging_bytes_,
                      .is_scalar = t.role == Role::scalar});
    staging_bytes_ += aligned(bound_.back().bytes);
  }
}

void CompiledProgram::list_results() {
  const Program& p = lowered_.program;
  const auto add = [&](TensorId id) {
    results_.from[results_.count++] = id.index >= 0 ? reinterpret_cast<const float*>(address(id)) : nullptr;
  };
  static_assert(2 + 2 * most_program_outputs <= Numbers::most);
  add(p.loss);
  add(p.correct);
  for (const ProgramOutput& out : p.outputs) {
    add(out.value);
    add(out.count);
  }
}

// The operation behind the last of those that go into one launch of updates with `first`.
int32_t CompiledProgram::updates_from(int32_t first) const {
  const auto& list = lowered_.program.operations;
  auto end = static_cast<size_t>(first) + 1;
  if (is_update(list[end - 1].kind))
    while (end < list.size() && is_update(list[end].kind) && same_launch(list[end], list[static_cast<size_t>(first)])) ++end;
  return static_cast<int32_t>(end);
}

void CompiledProgram::prepare_steps(const ProgramPlacement& placed, std::byte* arena, const Traits& traits,
                                    Libraries& libraries) {
  const Program& p = lowered_.program;
  for (int32_t i = 0; i < static_cast<int32_t>(p.operations.size());) {
    const auto at = static_cast<size_t>(i);
    const Operation& op = p.operations[at];
    const Place place{tensors_, arena + placed.workspaces[at].offset, libraries};
    const int32_t end = updates_from(i);
    if (end > i + 1)
      steps_.push_back({i, bind_updates(p, std::span(p.operations).subspan(at, static_cast<size_t>(end - i)), place)});
    else
      steps_.push_back({i, prepare({traits, p, op}).bind(place)});
    i = end;
  }
}

void CompiledProgram::bind(StepInputs inputs) {
  const Program& p = lowered_.program;
  for (const Binding& b : inputs) {
    if (b.id.index < 0 || static_cast<size_t>(b.id.index) >= p.tensors.size())
      throw Error(Fault::usage, fmt::format("there is no tensor {} to bind", b.id.index), p.name);
    const Tensor& t = p.tensor(b.id);
    const auto slot = std::ranges::find(bound_, b.id, &BoundTensor::id);
    if (slot == bound_.end())
      throw Error(Fault::usage, fmt::format("tensor '{}' is a {} and cannot be bound", t.name, to_string(t.role)), p.name);
    if (!b.data) throw Error(Fault::usage, fmt::format("input '{}' is bound to nothing", t.name), p.name);
    for (const InputCheck& check : checks_)
      if (check.input == b.id) check_values(check, static_cast<const int32_t*>(b.data), element_count(t.shape));
    slot->source = b.data;
    slot->fresh = true;
  }
  for (const BoundTensor& b : bound_)
    if (!b.is_scalar && b.bytes > 0 && !b.source)
      throw Error(Fault::usage, fmt::format("input '{}' was never bound", p.tensor(b.id).name), p.name);
}

void CompiledProgram::stage(std::byte* pinned, std::byte* staging, cudaStream_t stream) {
  for (const BoundTensor& b : bound_) {
    if (b.bytes == 0 || (b.is_scalar && !b.fresh)) continue;
    std::memcpy(pinned + b.staging_offset, b.source, static_cast<size_t>(b.bytes));
    GPUSIZER_CHECK(cudaMemcpyAsync(staging + b.staging_offset, pinned + b.staging_offset, static_cast<size_t>(b.bytes),
                                   cudaMemcpyHostToDevice, stream));
  }
}

void CompiledProgram::unpack(const std::byte* staging, cudaStream_t stream) {
  for (BoundTensor& b : bound_) {
    if (b.bytes == 0 || (b.is_scalar && !b.fresh)) continue;
    b.fresh = false;
    const Tensor& t = lowered_.program.tensor(b.id);
    const std::byte* from = staging + b.staging_offset;
    if (is_channels_last(t) && t.dtype == DType::f32) {
      const ImageShape image = image_shape(t.shape);
      const Array x{const_cast<std::byte*>(from), Element::f32}, y{address(b.id), Element::f32};
      GPUSIZER_CHECK(transpose({y, x, image.outer, image.channels, image.pixels}, stream));
    } else {
      GPUSIZER_CHECK(cudaMemcpyAsync(address(b.id), from, static_cast<size_t>(b.bytes), cudaMemcpyDeviceToDevice, stream));
    }
  }
}

void CompiledProgram::start(const Step& step, cudaStream_t stream) const {
  try {
    step.launch->launch(stream);
  } catch (const OutOfDeviceMemory&) {
    throw;
  } catch (const Error& e) {
    const Operation& op = lowered_.program.operations[static_cast<size_t>(step.first)];
    throw Error(e.fault(), fmt::format("{} '{}': {}", operation_name(op.kind), op.layer, e.problem()), e.where(), e.hint());
  }
}

// A library may load code or ask for memory the first time it is called, which a capture does not allow: so the first
// run goes without.
void CompiledProgram::launch(cudaStream_t stream, bool with_graph) {
  const bool as_graph = with_graph && !refuses_graph_ && runs_++ > 0;
  if (as_graph && !graph_) capture(stream);
  if (as_graph && graph_)
    GPUSIZER_CHECK(cudaGraphLaunch(graph_.get(), stream));
  else
    launch_each(stream, [](int32_t) {});
}

void CompiledProgram::capture(cudaStream_t stream) {
  GPUSIZER_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t captured = nullptr;
  try {
    launch_each(stream, [](int32_t) {});
  } catch (const Error&) {  // something in it refuses: this program runs without a graph
    refuses_graph_ = true;
  }
  const cudaError_t ended = cudaStreamEndCapture(stream, &captured);
  const Owned<cudaGraph_t, cudaGraphDestroy> graph(captured);
  if (refuses_graph_ || ended != cudaSuccess) {
    (void)cudaGetLastError();
    refuses_graph_ = true;
    return;
  }
  cudaGraphExec_t exec = nullptr;
  GPUSIZER_CHECK(cudaGraphInstantiate(&exec, graph.get(), 0));
  graph_ = GraphExec(exec);
}

StepResult CompiledProgram::result_of(const float* numbers) const {
  const Program& p = lowered_.program;
  StepResult r{.loss = static_cast<double>(numbers[0]), .correct = static_cast<double>(numbers[1])};
  r.finite = std::isfinite(r.loss);
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    r.outputs[i] = static_cast<double>(numbers[2 + 2 * i]);
    r.counts[i] = p.outputs[i].count.index >= 0 ? static_cast<double>(numbers[3 + 2 * i]) : static_cast<double>(p.batch);
  }
  return r;
}

}  // namespace gpusizer::cuda
