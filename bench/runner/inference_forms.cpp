// SPDX-License-Identifier: Apache-2.0
// Applies the transforms in their order: pruning, folding of batch norms, calibration and quantisation or a precision.
#include "bench/runner/inference_forms.hpp"

#include <algorithm>

#include "bench/runner/request_pool.hpp"
#include "workloads/transforms/fold_batch_norm.hpp"
#include "workloads/transforms/mixed_precision.hpp"
#include "workloads/transforms/quantization.hpp"

namespace gpusizer {
namespace {

constexpr std::int64_t calibration_samples = 256;
constexpr const char* range_suffix = ":range";

// Runs training samples through the program and adds the ranges that were seen. Returns how many samples there were.
std::int64_t calibrate(const PreparedCase& p, const ForwardPrograms& programs, TensorValues& values) {
  const ForwardPrograms observing = each_program(programs, observe_ranges);
  std::vector<std::string> ranges;
  for (const Tensor& t : any_program(observing).tensors)
    if (t.role == Role::state && t.name.ends_with(range_suffix)) ranges.push_back(t.name);
  for (const std::string& name : ranges) values[name] = {0};
  InferenceExecutor executor(p, observing, values);
  const std::int64_t batches = (calibration_samples + *p.config.batch - 1) / *p.config.batch;
  const RequestPool pool(p, *p.train_data, batches);
  for (std::size_t i = 0; i < pool.size(); ++i) executor.run(pool.batch(static_cast<std::int64_t>(i)));
  for (const std::string& name : ranges) values[name] = executor.read(name, 1);
  return static_cast<std::int64_t>(pool.size()) * *p.config.batch;
}

}  // namespace

InferenceForms::InferenceForms(const PreparedCase& prepared, TensorValues weights)
    : prepared_(prepared), programs_(forward_programs(prepared)), weights_(std::move(weights)) {}

std::vector<std::string> InferenceForms::names() const {
  const std::string& precision = prepared_.config.precision;
  const bool pruned = prepared_.config.prune > 0;
  std::vector<std::string> names{"fp32"};
  if (pruned) names.emplace_back("pruned");
  if (precision != "fp32") names.push_back(pruned ? "pruned " + precision : precision);
  return names;
}

InferenceForm InferenceForms::with_weights(const std::string& name) const {
  InferenceForm form{.name = name, .precision = "fp32", .values = weights_};
  if (name.starts_with("pruned")) form.pruned = prune(any_program(programs_), prepared_.config.prune, form.values);
  form.programs = each_program(programs_, [&](const Program& p) { return fold_batch_norm(p, form.values); });
  return form;
}

InferenceForm InferenceForms::make(const std::string& name) const {
  InferenceForm form = with_weights(name);
  const std::string& asked = prepared_.config.precision;
  if (name == "fp32" || !name.ends_with(asked) || asked == "fp32") return form;
  form.precision = asked;
  if (asked == "int8")
    make_integers(form);
  else
    form.programs = each_program(form.programs, [&](const Program& p) { return mixed_precision(p, precision(asked)); });
  return form;
}

void InferenceForms::make_integers(InferenceForm& form) const {
  form.calibration_samples = calibrate(prepared_, form.programs, form.values);
  const std::int64_t batch = *prepared_.config.batch;
  form.programs = each_program(form.programs, [&](const Program& p) { return quantize(p, form.values, batch); });
  form.integer_share = integer_share(any_program(form.programs));
}

}  // namespace gpusizer
