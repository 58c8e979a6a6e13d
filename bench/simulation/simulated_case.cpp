// SPDX-License-Identifier: Apache-2.0
// Programs of a few replicas stand for those of many: replicas do the same at the same time.
#include "bench/simulation/simulated_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/run_config/parallel_text.hpp"
#include "bench/runner/rank_place.hpp"
#include "bench/runner/training_step.hpp"
#include "bench/simulation/described_device.hpp"
#include "gpusizer/error.hpp"
#include "workloads/backend/simulated/operation_time.hpp"
#include "workloads/lowering/memory_plan.hpp"

namespace gpusizer {
namespace {

constexpr double usable_share = 0.94;         // of the card: the rest is the driver's and what allocators lose
constexpr std::int64_t most_built_replicas = 512;  // a sharded optimizer's parts shrink no further beyond

// How many replicas the programs are built for.
std::int64_t built_replicas(const ParallelOptions& layout) {
  return std::min<std::int64_t>(layout.dp, layout.sharded ? most_built_replicas : 2);
}

std::int64_t nodes_of(std::int64_t devices, std::int64_t asked) {
  if (asked > devices)
    throw Error(Fault::usage, fmt::format("{} devices cannot be on {} nodes", devices, asked), "--nodes", "use fewer nodes");
  return asked > 0 ? asked : (devices + 7) / 8;
}

Program forward_of(const CaseConfig& config, std::int64_t samples) {
  return build_model(find_model(config.model), config.options, samples, Mode::train);
}

void build_programs(SimulatedCase& one, const CaseConfig& built) {
  const std::int64_t per_part = *built.batch / built.accumulate;
  const Program forward = forward_of(built, per_part);
  one.facts = facts(whole_training_step(built, forward, 1));
  const PipelinePlan stages = pipeline_plan(built, forward);
  const Target target = simulated::simulated_target();
  for (std::int64_t stage = 0; stage < built.parallel.pp; ++stage) {
    const auto rank = static_cast<std::int32_t>(stage * built.parallel.tp);
    const StepBatch batch{built.accumulate, *built.batch, *built.batch * built.parallel.dp};
    one.programs.push_back(lower(training_step(built, forward, batch, {place_of(built.parallel, rank), stages}), target));
    one.ranks.push_back(rank);
    one.planned_bytes = std::max(one.planned_bytes, plan_memory(std::span(&one.programs.back(), 1)).peak_bytes());
  }
}

std::vector<simulated::Role> roles_of(const SimulatedCase& one) {
  std::vector<simulated::Role> roles;
  for (std::size_t i = 0; i < one.programs.size(); ++i) roles.push_back({one.ranks[i], &one.programs[i]});
  return roles;
}

}  // namespace

double SimulatedCase::memory_need() const {
  return double(planned_bytes) / (usable_share * double(device.memory_bytes));
}

SimulatedCase simulate_case(CaseConfig config, const cloud::Gpu& gpu, const cloud::Catalog& catalog, std::int64_t nodes) {
  SimulatedCase one;
  ParallelOptions& layout = config.parallel;
  if (!layout.dp_given && layout.devices) layout.dp = std::max<std::int64_t>(1, *layout.devices / (layout.pp * layout.tp));
  const std::int64_t replicas = layout.dp;
  one.devices = layout.ranks();
  if (one.devices < 1 || one.devices > most_simulated_devices || replicas < 1)
    throw Error(Fault::usage, fmt::format("{} devices are out of range", one.devices), "--devices",
                fmt::format("use 1 to {}", most_simulated_devices));
  layout.dp = built_replicas(layout);
  layout.dp_given = true;
  layout.devices.reset();
  config.device = "cpu";
  config = complete_case(std::move(config));
  one.nodes = nodes_of(one.devices, nodes);
  one.device = described_device(gpu, catalog, (one.devices + one.nodes - 1) / one.nodes);
  one.device.efficiency = efficiencies_of(gpu, config.precision);
  build_programs(one, config);
  one.config = std::move(config);
  one.config.parallel.dp = replicas;
  one.samples_per_step = double(*one.config.batch) * double(replicas);
  const auto roles = roles_of(one);
  one.step = simulated::simulate_step(
      roles, {.devices = one.devices, .ranks_per_replica = one.config.parallel.pp * one.config.parallel.tp}, one.device);
  return one;
}

std::string trace_of(const SimulatedCase& one) {
  const auto roles = roles_of(one);
  return simulated::chrome_trace(roles, one.step, fmt::format("{} on {} x {}", one.config.model, one.devices, one.device.name));
}

std::string bottleneck_of(const SimulatedCase& one) {
  if (one.step.exposed_seconds > 0.3 * one.step.seconds)
    return one.config.parallel.pp > 1 ? "waiting for other pipeline stages and communication" : "communication that computing cannot hide";
  if (one.step.launch_seconds > 0.4 * one.step.seconds) return "launching many small kernels";
  double arithmetic = 0, memory = 0;
  for (const LoweredProgram& program : one.programs)
    for (const Operation& op : program.program.operations) {
      const auto time = simulated::operation_time(program, op, one.device);
      (time.compute_seconds > time.memory_seconds ? arithmetic : memory) += time.seconds();
    }
  return arithmetic > memory ? "arithmetic" : "memory bandwidth";
}

}  // namespace gpusizer
