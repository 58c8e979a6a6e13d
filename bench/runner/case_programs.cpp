// SPDX-License-Identifier: Apache-2.0
// For each bucket training, its tail batch, evaluation and its tail batch.
#include "bench/runner/case_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/runner/case_data.hpp"
#include "workloads/data/batch_dealer.hpp"
#include "bench/runner/training_step.hpp"

namespace gpusizer {
namespace {

// A tail program costs time to compile: it is left out where the run ends before the first tail. Tails come last.
bool reaches_a_tail(const PreparedCase& p) {
  if (p.tails_per_epoch() == 0) return false;
  const auto& loop = p.loop;
  const auto last = std::min(loop.total_steps.value_or(INT64_MAX), loop.max_steps.value_or(INT64_MAX));
  return last > p.steps_per_epoch() - p.tails_per_epoch();
}

bool same_type(DType dtype, ValueType type) {
  return type == ValueType::i32 ? dtype == DType::i32 : dtype == DType::f32;
}

}  // namespace

void check_inputs(const Program& program, const std::vector<Field>& fields, const std::string& source) {
  for (const Tensor& tensor : program.tensors) {
    if (tensor.role != Role::input) continue;
    const auto field = std::ranges::find(fields, tensor.name, &Field::name);
    if (field == fields.end())
      throw Error(Fault::usage, fmt::format("the model needs {}, and {} does not have that", tensor.name, source),
                  "--data", "use other data, or another --head");
    if (same_type(tensor.dtype, field->type) && element_count(tensor.shape) == program.batch * field->values()) continue;
    throw Error(Fault::usage, fmt::format("the model takes {} of {} for a batch, and {} has {} a sample", tensor.name,
                                          to_string(tensor.shape), source, to_string(field->shape)), "--data",
                "leave out the flags that change the model's shape");
  }
}

namespace {

class Builder {
 public:
  explicit Builder(PreparedCase& p) : p_(p), target_(p.backend->target(p.device)) {}

  void build() {
    std::vector<std::int64_t> test_sizes;
    if (p_.test_data) test_sizes = bucket_sizes(*p_.test_data);
    for (std::int64_t bucket = 0; bucket < p_.train_data->buckets(); ++bucket) {
      p_.programs.buckets.emplace_back();
      add_training(bucket);
      if (p_.test_data) add_evaluation(bucket, test_sizes.at(static_cast<std::size_t>(bucket)));
    }
    if (p_.train_data->buckets() > 1) average_work();
  }

 private:
  Program forward(std::int64_t bucket, std::int64_t batch, Mode mode) const {
    Program program = build_model(*p_.model, bucket_options(p_, bucket), batch, mode);
    const SampleSource& source = mode == Mode::train ? *p_.train_data : *p_.test_data;
    check_inputs(program, source.fields(bucket), source.name());
    return program;
  }

  Program evaluation(std::int64_t bucket, std::int64_t batch) const {
    return evaluation_step(p_.config, forward(bucket, batch, Mode::evaluate));
  }

  int add(const Program& program) {
    p_.programs.lowered.push_back(lower(program, target_));
    return static_cast<int>(p_.programs.lowered.size()) - 1;
  }

  void add_training(std::int64_t bucket) {
    const EpochShape shape = p_.epoch[static_cast<std::size_t>(bucket)];
    BucketPrograms& programs = p_.programs.buckets.back();
    if (shape.full_steps > 0) {
      const std::int64_t parts = p_.config.accumulate;
      const Program step = training_step(p_.config, forward(bucket, *p_.config.batch / parts, Mode::train), parts);
      p_.facts = facts(step);
      count(shape.full_steps * *p_.config.batch, p_.facts);
      programs.train = add(step);
    }
    if (shape.tail_samples > 0 && reaches_a_tail(p_)) {
      const Program step = training_step(p_.config, forward(bucket, shape.tail_samples, Mode::train), 1);
      if (p_.facts.batch == 0) p_.facts = facts(step);
      programs.train_tail = add(step);
    }
  }

  void add_evaluation(std::int64_t bucket, std::int64_t samples) {
    BucketPrograms& programs = p_.programs.buckets.back();
    const EpochShape shape = epoch_shape(samples, *p_.config.batch, true);
    if (shape.full_steps > 0) programs.evaluate = add(evaluation(bucket, *p_.config.batch));
    if (shape.tail_samples > 0) programs.evaluate_tail = add(evaluation(bucket, shape.tail_samples));
  }

  void count(std::int64_t samples, const Facts& bucket_facts) {
    work_.samples += static_cast<double>(samples);
    work_.macs += static_cast<double>(samples) * static_cast<double>(bucket_facts.forward_macs_per_sample);
    work_.flops += static_cast<double>(samples) * static_cast<double>(bucket_facts.flops_per_sample);
  }

  // A sample of the whole data is the mean of its buckets'.
  void average_work() {
    if (work_.samples == 0) return;
    p_.facts.forward_macs_per_sample = std::llround(work_.macs / work_.samples);
    p_.facts.flops_per_sample = std::llround(work_.flops / work_.samples);
  }

  struct Work {
    double samples = 0, macs = 0, flops = 0;
  };

  PreparedCase& p_;
  Target target_;
  Work work_;  // of the full steps of an epoch
};

// An accuracy that the model does not report can never be reached.
void check_target(const PreparedCase& p) {
  if (!p.config.target_accuracy || p.programs.lowered.front().program.correct.index >= 0) return;
  throw Error(Fault::usage, fmt::format("{} reports no accuracy", p.model->name), "--target-accuracy", "leave it out");
}

}  // namespace

void build_case_programs(PreparedCase& p) {
  Builder(p).build();
  check_target(p);
  p.plan = plan_memory(p.programs.lowered);
}

}  // namespace gpusizer
