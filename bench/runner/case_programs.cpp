// SPDX-License-Identifier: Apache-2.0
// For each rank and bucket training, its tail batch, evaluation and its tail batch.
#include "bench/runner/case_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "bench/runner/case_data.hpp"
#include "workloads/data/batch_dealer.hpp"
#include "bench/runner/training_step.hpp"
#include "workloads/transforms/check_schedule.hpp"
#include "workloads/transforms/state_average.hpp"

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

constexpr std::int64_t most_checked_ranks = 64;  // the check simulates all of them

// The whole model's program for one part of a batch.
Program forward_program(const PreparedCase& p, std::int64_t bucket, std::int64_t batch, Mode mode) {
  Program program = build_model(*p.model, bucket_options(p, bucket), batch, mode);
  const SampleSource& source = mode == Mode::train ? *p.train_data : *p.test_data;
  check_inputs(program, source.fields(bucket), source.name());
  return program;
}

const EpochShape& shape_of(const PreparedCase& p, std::int64_t bucket) {
  return p.epoch[static_cast<std::size_t>(bucket)];
}

// The step on a batch of so many samples of all replicas.
Program step_of(const PreparedCase& p, std::int64_t bucket, std::int64_t whole_samples, const StepLayout& layout) {
  const bool full = whole_samples == whole_batch(p.config);
  const std::int64_t samples = part_samples(whole_samples, {layout.place.replica, p.config.parallel.dp});
  const StepBatch batch{full ? p.config.accumulate : 1, samples, whole_samples};
  const Program forward = forward_program(p, bucket, samples / batch.micro_batches, Mode::train);
  return training_step(p.config, forward, batch, layout);
}

// What replicas make equal from time to time: running statistics and what has one of `others`. Not scalars, which count
// steps and are equal.
std::optional<Program> average_of(const PreparedCase& p, Program step, const RankPlace& place,
                                  const std::set<Role>& others) {
  std::map<std::string, Role> roles;
  for (Tensor& tensor : step.tensors)
    if (others.contains(tensor.role) && !tensor.shape.empty())
      roles[tensor.name] = std::exchange(tensor.role, Role::state);
  auto average = average_states(step, place.rank, replica_ranks(p.config.parallel, place));
  if (average)
    for (Tensor& tensor : average->tensors)
      if (const auto role = roles.find(tensor.name); role != roles.end()) tensor.role = role->second;
  return average;
}

// Builds the programs of one rank.
class Builder {
 public:
  Builder(const PreparedCase& p, const PipelinePlan& stages, PreparedRank& rank, const Target& target)
      : p_(p), layout_{rank.place, stages}, programs_(rank.programs), target_(target) {}

  void build() {
    std::vector<std::int64_t> test_sizes;
    if (p_.test_data) test_sizes = bucket_sizes(*p_.test_data);
    for (std::int64_t bucket = 0; bucket < p_.train_data->buckets(); ++bucket) {
      programs_.buckets.emplace_back();
      add_training(bucket);
      if (p_.test_data) add_evaluation(bucket, test_sizes.at(static_cast<std::size_t>(bucket)));
    }
  }

 private:
  int add(const Program& program) {
    programs_.lowered.push_back(lower(program, target_));
    return static_cast<int>(programs_.lowered.size()) - 1;
  }

  void add_training(std::int64_t bucket) {
    const EpochShape& shape = shape_of(p_, bucket);
    BucketPrograms& programs = programs_.buckets.back();
    if (shape.full_steps > 0) programs.train = add_step(bucket, whole_batch(p_.config));
    if (shape.tail_samples > 0 && reaches_a_tail(p_)) programs.train_tail = add_step(bucket, shape.tail_samples);
  }

  int add_step(std::int64_t bucket, std::int64_t whole_samples) {
    const Program step = step_of(p_, bucket, whole_samples, layout_);
    const int index = add(step);
    if (programs_.average < 0 && p_.config.parallel.dp > 1) add_averages(step);
    return index;
  }

  void add_averages(const Program& step) {
    const auto added = [&](const std::set<Role>& others) {
      const auto average = average_of(p_, step, layout_.place, others);
      return average ? add(*average) : -1;
    };
    const bool local = p_.config.parallel.mode == "local_sgd";
    programs_.average = added(local ? std::set{Role::parameter} : std::set<Role>{});
    if (local && !p_.config.checkpoint.empty())
      programs_.average_all = added({Role::parameter, Role::optimizer_state});
  }

  // Replicas evaluate whole batches in turn.
  void add_evaluation(std::int64_t bucket, std::int64_t samples) {
    BucketPrograms& programs = programs_.buckets.back();
    const EpochShape shape = epoch_shape(samples, *p_.config.batch, true);
    const auto evaluation = [&](std::int64_t batch) {
      return add(evaluation_step(p_.config, forward_program(p_, bucket, batch, Mode::evaluate), layout_));
    };
    if (shape.full_steps > 0) programs.evaluate = evaluation(*p_.config.batch);
    if (shape.tail_samples > 0) programs.evaluate_tail = evaluation(shape.tail_samples);
  }

  const PreparedCase& p_;
  StepLayout layout_;
  CasePrograms& programs_;
  const Target& target_;
};

// Of the unsplit model. A sample of data in buckets is the mean over the buckets.
void count_facts(PreparedCase& p) {
  double samples = 0, macs = 0, flops = 0;
  for (std::int64_t bucket = 0; bucket < p.train_data->buckets(); ++bucket) {
    const EpochShape& shape = shape_of(p, bucket);
    const std::int64_t parts = shape.full_steps > 0 ? p.config.accumulate : 1;
    const std::int64_t batch = shape.full_steps > 0 ? *p.config.batch / parts : shape.tail_samples;
    if (batch == 0 || (shape.full_steps == 0 && p.facts.batch > 0)) continue;
    p.facts = facts(whole_training_step(p.config, forward_program(p, bucket, batch, Mode::train), parts));
    const auto weight = static_cast<double>(shape.full_steps * whole_batch(p.config));
    samples += weight;
    macs += weight * static_cast<double>(p.facts.forward_macs_per_sample);
    flops += weight * static_cast<double>(p.facts.flops_per_sample);
  }
  if (p.train_data->buckets() == 1 || samples == 0) return;
  p.facts.forward_macs_per_sample = std::llround(macs / samples);
  p.facts.flops_per_sample = std::llround(flops / samples);
}

std::int64_t first_bucket(const PreparedCase& p) {
  std::int64_t bucket = 0;
  while (shape_of(p, bucket).steps() == 0) ++bucket;
  return bucket;
}

PipelinePlan stages_of(const PreparedCase& p) {
  if (p.config.parallel.pp == 1) return {};
  const std::int64_t bucket = first_bucket(p);
  const std::int64_t samples = std::max<std::int64_t>(1, *p.config.batch / p.config.accumulate);
  return pipeline_plan(p.config, forward_program(p, bucket, samples, Mode::train));
}

// Before anything runs: the steps of all ranks, be they here or elsewhere, fit together.
void check_ranks(const PreparedCase& p, const PipelinePlan& stages) {
  const ParallelOptions& layout = p.config.parallel;
  if (layout.ranks() == 1 || layout.ranks() > most_checked_ranks) return;
  const std::int64_t bucket = first_bucket(p);
  const bool full = shape_of(p, bucket).full_steps > 0;
  std::vector<Program> steps;
  for (std::int64_t rank = 0; rank < layout.ranks(); ++rank)
    steps.push_back(step_of(p, bucket, full ? whole_batch(p.config) : shape_of(p, bucket).tail_samples,
                            {place_of(layout, rank), stages}));
  require_schedule(steps);
}

// An accuracy that the model does not report can never be reached.
void check_target(const PreparedCase& p) {
  if (!p.config.target_accuracy || forward_program(p, first_bucket(p), 1, Mode::train).correct.index >= 0) return;
  throw Error(Fault::usage, fmt::format("{} reports no accuracy", p.model->name), "--target-accuracy", "leave it out");
}

}  // namespace

void build_case_programs(PreparedCase& p) {
  check_target(p);
  count_facts(p);
  const PipelinePlan stages = stages_of(p);
  check_ranks(p, stages);
  const Target target = p.backend->target(p.device);
  for (PreparedRank& rank : p.ranks) {
    Builder(p, stages, rank, target).build();
    rank.plan = plan_memory(rank.programs.lowered);
  }
}

}  // namespace gpusizer
