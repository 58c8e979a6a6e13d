// SPDX-License-Identifier: Apache-2.0
// Evaluation programs for requests and for the test set.
#include "bench/runner/forward_programs.hpp"

#include <algorithm>

#include "bench/runner/case_data.hpp"
#include "bench/runner/case_programs.hpp"
#include "workloads/data/batch_dealer.hpp"

namespace gpusizer {

std::int64_t evaluation_batch(const PreparedCase& p) { return p.config.training_batch.value_or(*p.config.batch); }

ForwardPrograms forward_programs(const PreparedCase& p) {
  const std::int64_t batch = *p.config.batch;
  std::vector<std::int64_t> test_sizes;
  if (p.test_data) test_sizes = bucket_sizes(*p.test_data);
  ForwardPrograms programs(static_cast<std::size_t>(p.train_data->buckets()));
  for (std::size_t bucket = 0; bucket < programs.size(); ++bucket) {
    const auto number = static_cast<std::int64_t>(bucket);
    const auto forward = [&](std::int64_t samples) {
      Program program = build_model(*p.model, bucket_options(p, number), samples, Mode::evaluate);
      check_inputs(program, p.train_data->fields(number), p.train_data->name());
      return program;
    };
    programs[bucket].request = forward(batch);
    if (!p.test_data) continue;
    const EpochShape test = epoch_shape(test_sizes.at(bucket), evaluation_batch(p), true);
    if (test.full_steps > 0 && evaluation_batch(p) != batch) programs[bucket].whole = forward(evaluation_batch(p));
    if (test.tail_samples > 0 && test.tail_samples != batch) programs[bucket].rest = forward(test.tail_samples);
  }
  return programs;
}

ForwardPrograms each_program(const ForwardPrograms& programs, const std::function<Program(const Program&)>& change) {
  ForwardPrograms changed(programs.size());
  for (const auto part : {&BucketForward::request, &BucketForward::whole, &BucketForward::rest})
    for (std::size_t bucket = 0; bucket < programs.size(); ++bucket)
      if (const auto& program = programs[bucket].*part) changed[bucket].*part = change(*program);
  return changed;
}

const Program& any_program(const ForwardPrograms& programs) { return programs.front().request.value(); }

}  // namespace gpusizer
