// SPDX-License-Identifier: Apache-2.0
// Trains or reads weights, makes the forms one after the other, measures each.
#include "bench/runner/run_inference.hpp"

#include <fmt/format.h>

#include <csignal>

#include "bench/machine/memory.hpp"
#include "bench/run_config/check_inference.hpp"
#include "bench/runner/executor_trainer.hpp"
#include "bench/runner/fill_inference.hpp"
#include "bench/runner/fill_measurement.hpp"
#include "bench/runner/inference_forms.hpp"
#include "bench/runner/inference_weights.hpp"
#include "bench/runner/request_pool.hpp"

namespace gpusizer {
namespace {

// The weights as `program` names them, after the training that was asked for. Nothing when it was interrupted.
std::optional<TensorValues> trained_weights(record::Case& record, const CaseConfig& config, const Program& program,
                                            const CaseContext& context) {
  PreparedCase prepared = prepare_case(training_of(config));
  if (const auto available = available_memory_bytes()) require_memory(prepared, *available);
  record.facts.model_flops_per_sample = prepared.facts.flops_per_sample;
  MonotonicClock clock;
  LoopResult result;
  ExecutorTrainer trainer(prepared, prepared.ranks.front(), context.stop);
  train_and_measure(
      trainer, prepared.loop, clock, context.stop,
      [&](const LoopResult& now) {
        if (context.progress.step) context.progress.step(prepared.loop, now);
      },
      result);
  fill_training(record, result, prepared.loop);
  if (result.stop_reason == "interrupted") return std::nullopt;
  if (result.non_finite_step)
    throw Error(Fault::failed,
                fmt::format("the loss was not finite at step {} of the training", *result.non_finite_step), record.id,
                "use a lower --lr");
  return weights_of(trainer.executor(), program);
}

std::optional<TensorValues> find_weights(record::Case& record, const PreparedCase& prepared,
                                         const CaseContext& context) {
  const Program program = build_model(*prepared.model, prepared.model_options, 1, Mode::evaluate);
  if (!prepared.config.weights.empty()) return weights_from(prepared.config.weights, program);
  if (!trains(prepared.config)) return random_weights(program, prepared.config.seed);
  return trained_weights(record, prepared.config, program, context);
}

ServingPlan serving_plan(const CaseConfig& c) {
  return {.rate = c.rate, .requests = c.requests, .max_seconds = c.max_seconds, .seed = c.seed};
}

ServedForm serve_form(const PreparedCase& prepared, InferenceForm form, const RequestPool& pool,
                      const CaseContext& context) {
  InferenceExecutor executor(prepared, form.programs, form.values);
  form.values.clear();  // they are the executor's now
  ServedForm served{
      .form = std::move(form), .weight_bytes = executor.weight_bytes(), .planned_bytes = executor.planned_bytes()};
  if (prepared.test_data) served.evaluation = executor.evaluate(context.stop);
  PoolServer server(executor, pool);
  MonotonicWaitingClock clock;
  serve_and_measure(server, serving_plan(prepared.config), clock, context.stop, served.result);
  return served;
}

void set_interrupted(record::Case& record, int signal) {
  record.status = record::CaseStatus::interrupted;
  record.reason = fmt::format("{} came", signal == SIGINT ? "SIGINT" : "SIGTERM");
}

}  // namespace

void run_inference(record::Case& record, PreparedCase& prepared, const CaseContext& context) {
  record.throughput.null_reason = "an inference case: its figures are under inference";
  record.throughput.unit = std::string(prepared.model->sample_unit) + "/s";
  record.facts.model_flops_per_sample = record::Maybe<std::int64_t>::missing("nothing is trained");
  record.facts.gradient_bytes = record::Maybe<std::int64_t>::missing("an inference case");
  auto weights = find_weights(record, prepared, context);
  if (!weights) return set_interrupted(record, context.stop());
  begin_inference(record, prepared);
  const InferenceForms forms(prepared, std::move(*weights));
  const RequestPool pool(prepared, request_source(prepared), 64);
  for (const std::string& name : forms.names()) {
    const ServedForm served = serve_form(prepared, forms.make(name), pool, context);
    add_inference(record, prepared, serving_plan(prepared.config), served);
    if (context.stop() != 0) return set_interrupted(record, context.stop());
  }
  record.status = record::CaseStatus::ok;
  record.reason = "";
}

}  // namespace gpusizer
