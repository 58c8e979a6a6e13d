// SPDX-License-Identifier: Apache-2.0
// Lowers, compiles, writes the weights, runs.
#include "bench/runner/inference_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/machine/memory.hpp"
#include "bench/runner/evaluation_sums.hpp"
#include "workloads/data/loader.hpp"

namespace gpusizer {
namespace {

void require_room(const MemoryPlan& plan) {
  const auto available = available_memory_bytes();
  if (!available || plan.peak_bytes() <= *available) return;
  constexpr double gib = 1 << 30;
  throw OutOfMemory(fmt::format("inference needs {:.1f} GiB and {:.1f} GiB are available",
                                static_cast<double>(plan.peak_bytes()) / gib, static_cast<double>(*available) / gib),
                    "use a smaller --batch");
}

BatchView view_of(const Batch& batch) {
  BatchView view{.bucket = batch.bucket, .samples = batch.samples};
  for (std::size_t field = 0; field < batch.fields.size(); ++field)
    view.fields.emplace_back(batch.fields[field].name, batch.data(field));
  return view;
}

}  // namespace

InferenceExecutor::InferenceExecutor(const PreparedCase& prepared, const ForwardPrograms& programs,
                                     const TensorValues& values)
    : prepared_(prepared) {
  const Target target = prepared.backend->target(prepared.device);
  std::vector<LoweredProgram> lowered;
  for (const auto part : {&BucketForward::request, &BucketForward::whole, &BucketForward::rest})
    for (std::size_t bucket = 0; bucket < programs.size(); ++bucket)
      if (const auto& program = programs[bucket].*part) {
        made_for_.emplace_back(static_cast<std::int64_t>(bucket), program->batch);
        lowered.push_back(lower(*program, target));
      }
  require_room(plan_memory(lowered));
  const MemoryPlan serving = plan_memory(std::span(lowered).first(programs.size()));  // one for each bucket
  weight_bytes_ = serving.persistent_bytes;
  planned_bytes_ = serving.peak_bytes();
  executor_ = prepared.backend->make_executor(std::move(lowered), prepared.device);
  write(values);
}

void InferenceExecutor::write(const TensorValues& values) {
  std::set<std::string> written;
  for (int index = 0; index < static_cast<int>(made_for_.size()); ++index) {
    const LoweredProgram& one = executor_->program(index);
    for (const Tensor& t : one.program.tensors)
      if (is_persistent(t.role) && t.role != Role::scalar &&
          one.tensor_bytes[static_cast<std::size_t>(t.id.index)] > 0 && written.insert(t.name).second)
        executor_->write(t.name, values_of(values, t.name));
  }
}

int InferenceExecutor::find(std::int64_t bucket, std::int64_t samples) const {
  const auto it = std::ranges::find(made_for_, std::pair(bucket, samples));
  return it == made_for_.end() ? -1 : static_cast<int>(it - made_for_.begin());
}

StepResult InferenceExecutor::run(const BatchView& batch) {
  const int index = find(batch.bucket, batch.samples);
  if (index < 0) throw Error(Fault::usage, fmt::format("there is no program for {} samples", batch.samples));
  const Program& program = executor_->program(index).program;
  std::vector<Binding> bindings;
  for (const auto& [name, data] : batch.fields)
    if (const Tensor* tensor = program.find(name)) bindings.push_back({tensor->id, data});
  executor_->enqueue(index, bindings);
  const auto result = executor_->collect();
  if (!result) throw Error(Fault::failed, "the device lost a request", "", "run again; if it happens again, report it");
  return *result;
}

Evaluation InferenceExecutor::evaluate(const std::function<int()>& stop) {
  const PreparedCase& p = prepared_;
  Loader loader(*p.test_data, {.batch = evaluation_batch(p), .threads = p.loader_threads, .seed = p.config.seed});
  loader.start_epoch(0);
  EvaluationSums sums;
  while (const auto batch = loader.next()) {
    const StepResult result = run(view_of(*batch));
    sums.add(executor_->program(find(batch->bucket, batch->samples)).program, result);
    if (stop() != 0) break;
  }
  Evaluation evaluation = sums.means();
  evaluation.complete = evaluation.samples == p.test_data->size();
  return evaluation;
}

std::vector<float> InferenceExecutor::read(const std::string& tensor, std::size_t elements) {
  std::vector<float> values(elements);
  executor_->read(tensor, values);
  return values;
}

}  // namespace gpusizer
