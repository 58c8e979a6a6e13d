// SPDX-License-Identifier: Apache-2.0
// Training, its tail batch, evaluation and its tail batch: four programs at most.
#include "bench/runner/case_programs.hpp"

#include <algorithm>

#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

// A tail program costs time to compile: it is left out where the run ends before the first tail.
bool reaches_a_tail(const PreparedCase& p) {
  if (p.epoch.tail_samples == 0) return false;
  const auto& loop = p.loop;
  const auto last = std::min(loop.total_steps.value_or(INT64_MAX), loop.max_steps.value_or(INT64_MAX));
  return last >= p.epoch.steps();
}

Program forward(const PreparedCase& p, std::int64_t batch, Mode mode) {
  return build_model(*p.model, p.model_options, batch, mode);
}

Program training(const PreparedCase& p, std::int64_t batch) {
  return training_program(forward(p, batch, Mode::train),
                          {.momentum = *p.config.momentum, .weight_decay = *p.config.weight_decay});
}

}  // namespace

void build_case_programs(PreparedCase& p) {
  const Target target = p.backend->target(p.device);
  CasePrograms& set = p.programs;
  const auto add = [&](const Program& program) {
    set.lowered.push_back(lower(program, target));
    return static_cast<int>(set.lowered.size()) - 1;
  };
  const Program step = training(p, *p.config.batch);
  p.facts = facts(step);
  set.train = add(step);
  if (reaches_a_tail(p)) set.train_tail = add(training(p, p.epoch.tail_samples));
  if (p.test_data) {
    const std::int64_t batch = std::min(*p.config.batch, p.test_data->size());
    const std::int64_t tail = p.test_data->size() % batch;
    set.evaluate = add(forward(p, batch, Mode::evaluate));
    if (tail > 0) set.evaluate_tail = add(forward(p, tail, Mode::evaluate));
  }
  p.plan = plan_memory(set.lowered);
}

}  // namespace gpusizer
