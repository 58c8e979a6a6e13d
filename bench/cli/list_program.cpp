// SPDX-License-Identifier: Apache-2.0
// gpusizer list program MODEL: the step program of a model, its exact facts and its memory plan; nothing is run.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/cli/listing.hpp"
#include "bench/run_config/model_flags.hpp"
#include "bench/run_config/settings.hpp"
#include "gpusizer/error.hpp"
#include "workloads/backend/backend.hpp"
#include "workloads/lowering/memory_plan.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/dump.hpp"
#include "workloads/program/facts.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer::cli {
namespace {

using nlohmann::ordered_json;

// The same checks as for a run; what a program does not need keeps its default.
CaseConfig requested(const Options& options, const std::string& model) {
  CaseConfig config;
  config.model = model;
  for (const Setting& setting : settings()) {
    const std::string name(setting.name);
    if (!shapes_program(name)) continue;
    if (const auto text = options.value(name)) setting.set(config, parse_setting(setting, *text));
  }
  return complete_case(config);
}

bool training(const Options& options) {
  const std::string mode = options.value("mode").value_or("train");
  if (mode != "train" && mode != "evaluate")
    throw Error(Fault::usage, fmt::format("'{}' is not possible", mode), "--mode", "use train or evaluate");
  return mode == "train";
}

Program build(const CaseConfig& config, bool train) {
  const ModelEntry& model = find_model(config.model);
  if (!train) return build_model(model, config.options, *config.batch, Mode::evaluate);
  return training_program(build_model(model, config.options, *config.batch, Mode::train),
                          {.momentum = *config.momentum, .weight_decay = *config.weight_decay});
}

// An unknown name is refused in the words of this command's flag.
std::unique_ptr<Backend> target_backend(const std::string& name) {
  try {
    return make_backend(name);
  } catch (const Error& error) {
    throw Error(error.fault(), error.problem(), "--target", error.hint());
  }
}

LoweredProgram lowered(const Program& program, const std::string& backend_name) {
  const auto backend = target_backend(backend_name);
  const Probe probe = backend->probe();
  if (probe.devices.empty())
    throw Error(Fault::environment, fmt::format("no device for '{}': {}", backend_name, probe.reason), "--target");
  return lower(program, backend->target(probe.devices.front()));
}

ordered_json options_json(const ModelOptions& options) {
  ordered_json json = ordered_json::object();
  for (const NamedNumber& option : number_options())
    if (options.*option.member > 0) json[std::string(option.name)] = options.*option.member;
  for (const NamedWord& option : word_options())
    if (!(options.*option.member).empty()) json[std::string(option.name)] = options.*option.member;
  return json;
}

ordered_json facts_json(const Program& program, const CaseConfig& config, bool train) {
  const Facts f = facts(program);
  const ModelOptions o = with_defaults(find_model(config.model), config.options);
  return {{"model", config.model},
          {"options", options_json(o)},
          {"mode", train ? "train" : "evaluate"},
          {"batch", f.batch},
          {"parameters", f.parameters},
          {"state_values", f.state_values},
          {"gradient_bytes", f.gradient_bytes},
          {"forward_macs_per_sample", f.forward_macs_per_sample},
          {"flops_per_sample", f.flops_per_sample},
          {"tensors", program.tensors.size()},
          {"operations", program.operations.size()}};
}

void add_plan(ordered_json& json, const LoweredProgram& program) {
  const MemoryPlan plan = plan_memory({&program, 1});
  json["target"] = {{"name", program.target},
                    {"operations", program.program.operations.size()},
                    {"persistent_bytes", plan.persistent_bytes},
                    {"transient_bytes", plan.transient_bytes},
                    {"peak_bytes", plan.peak_bytes()}};
}

}  // namespace

int list_program(const Options& options, const std::string& model) {
  const CaseConfig config = requested(options, model);
  const bool train = training(options);
  const Program program = build(config, train);
  ordered_json json = facts_json(program, config, train);
  const auto target = options.value("target");
  std::string text;
  if (target) {
    const LoweredProgram device_program = lowered(program, *target);
    add_plan(json, device_program);
    text = dump(device_program.program);
  } else {
    text = dump(program);
  }
  std::cout << (options.has("json") ? json.dump(2) + "\n" : text);
  return 0;
}

}  // namespace gpusizer::cli
