// SPDX-License-Identifier: Apache-2.0
// From a configuration to everything that a run needs.
#include "bench/runner/prepared_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "bench/runner/forward_programs.hpp"
#include "bench/runner/case_data.hpp"
#include "bench/runner/case_programs.hpp"
#include "bench/runner/cores.hpp"
#include "bench/runner/inference_weights.hpp"
#include "workloads/data/batch_dealer.hpp"

namespace gpusizer {
namespace {

constexpr std::int64_t kBatchesHeld = 3;  // by a loader: one in use, two ahead

// The cores are dealt out evenly: to the processes that share them, and in a process to its ranks (or to as many as the
// largest case of a sweep has).
void deal_out_cores(PreparedCase& p, const LocalRanks& local) {
  const auto ranks = static_cast<std::int64_t>(p.ranks.size()), processes = std::int64_t{local.neighbours};
  const std::vector<int> all = usable_cores();
  if (p.config.threads * ranks * processes > std::max(ranks * processes, std::int64_t{p.device.threads}))
    throw Error(Fault::usage, fmt::format("{} threads were asked for{} and {} may use {}", p.config.threads,
                                          ranks * processes > 1 ? fmt::format(" for each of {} ranks", ranks * processes) : "",
                                          processes > 1 ? "these processes" : "this process", p.device.threads),
                "--threads", "use fewer");
  const auto parts = static_cast<int>(local.only ? 1 : std::max(ranks, p.config.parallel.ranks_of_largest));
  if (p.config.threads > 0) p.device.threads = static_cast<int>(p.config.threads);
  if (parts * processes == 1 || p.config.device != "cpu") return;
  const std::span mine = part_of(all, local.neighbours, local.place);
  p.shares_cores = ranks * processes > static_cast<std::int64_t>(all.size());
  for (int i = 0; i < static_cast<int>(ranks); ++i) {
    const std::span own = part_of(mine, parts, i);
    p.ranks[static_cast<std::size_t>(i)].cores.assign(own.begin(), own.end());
    if (p.config.threads == 0) p.device.threads = std::min(p.device.threads, static_cast<int>(own.size()));
  }
}

void make_ranks(PreparedCase& p, const LocalRanks& local) {
  const ParallelOptions& layout = p.config.parallel;
  if (local.only) {
    p.ranks.emplace_back().place = place_of(layout, *local.only);
  } else {
    for (std::int64_t rank = 0; rank < layout.ranks(); ++rank) p.ranks.emplace_back().place = place_of(layout, rank);
  }
  deal_out_cores(p, local);
}

void open_device(PreparedCase& p, const LocalRanks& local) {
  p.backend = make_backend(p.config.device);
  const Probe probe = p.backend->probe();
  if (probe.devices.empty())
    throw Error(Fault::environment, fmt::format("no device for '{}': {}", p.config.device, probe.reason), "--device",
                "see gpusizer list devices");
  p.device = probe.devices.front();
  make_ranks(p, local);
  // On the CPU the loader shares the cores with the step, and small images need little.
  p.loader_threads = p.config.loader_threads > 0 ? p.config.loader_threads : std::max(1, p.device.threads / 4);
}

// Steps after which the run surely ends; nothing when only time, precision or accuracy end it.
std::optional<std::int64_t> known_steps(const PreparedCase& p) {
  if (p.config.steps) return p.config.steps;
  if (!p.config.epochs) return std::nullopt;
  const double steps = std::ceil(*p.config.epochs * static_cast<double>(p.steps_per_epoch()));
  if (steps > INT32_MAX)
    throw Error(Fault::usage, fmt::format("{} epochs are more than 2^31 steps", *p.config.epochs), "--epochs", "use fewer");
  return static_cast<std::int64_t>(steps);
}

void plan_epoch(PreparedCase& p) {
  const bool keep_tail = p.config.tail == "keep" && !is_endless(p.config);
  for (const std::int64_t samples : bucket_sizes(*p.train_data)) {
    EpochShape& shape = p.epoch.emplace_back(epoch_shape(samples, whole_batch(p.config), keep_tail));
    if (p.config.accumulate > 1 && !is_endless(p.config))
      p.left_out_samples += samples - shape.full_steps * whole_batch(p.config);
    if (shape.tail_samples >= p.config.parallel.dp) continue;
    p.left_out_samples += shape.tail_samples;
    shape.tail_samples = 0;
  }
  if (p.steps_per_epoch() == 0)
    throw Error(Fault::usage, fmt::format("no bucket of {} fills a batch of {}", p.train_data->name(),
                                          whole_batch(p.config)),
                "--batch", "use a smaller one or --tail keep");
}

Schedule schedule_of(const std::string& word) {
  if (word == "cosine") return Schedule::cosine;
  if (word == "linear") return Schedule::linear;
  return word == "step" ? Schedule::step : Schedule::constant;
}

void plan_loop(PreparedCase& p) {
  const CaseConfig& c = p.config;
  const auto total = known_steps(p);
  if (total && c.warmup >= *total)
    throw Error(Fault::usage, fmt::format("a warm-up of {} leaves nothing to measure of {} steps", c.warmup, *total),
                "--warmup", "use a shorter one or more epochs");
  p.loop.learning_rate = {.highest = *c.lr, .schedule = schedule_of(c.schedule), .total_steps = total.value_or(0),
                          .warmup_steps = std::llround(c.lr_warmup_share * static_cast<double>(total.value_or(0)))};
  p.loop.steps_per_epoch = p.steps_per_epoch();
  p.loop.total_steps = total;
  if (c.epochs) p.loop.total_reason = "epochs_done";
  p.loop.max_steps = c.max_steps;
  p.loop.max_seconds = c.max_seconds;
  p.loop.evaluate = *c.eval;
  p.loop.target_accuracy = c.target_accuracy;
  p.loop.patience = c.patience;
  p.loop.stopping = {.precision_target = c.precision_target, .fixed_warm_up = c.warmup};
}

std::int64_t loader_bytes(const PreparedCase& p) {
  std::int64_t sample_values = 0;  // of the largest bucket
  for (std::int64_t bucket = 0; bucket < p.train_data->buckets(); ++bucket) {
    std::int64_t values = 0;
    for (const Field& field : p.train_data->fields(bucket)) values += field.values();
    sample_values = std::max(sample_values, values);
  }
  const std::int64_t one = kBatchesHeld * *p.config.batch * sample_values * 4;
  return (p.test_data ? 2 * one : one) * static_cast<std::int64_t>(p.ranks.size());
}

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

}  // namespace

bool is_endless(const CaseConfig& config) {
  return config.data == "synthetic" && config.synthetic_samples == 0 && !config.epochs;
}

std::int64_t PreparedCase::steps_per_epoch() const {
  std::int64_t steps = 0;
  for (const EpochShape& shape : epoch) steps += shape.steps();
  return steps;
}

std::int64_t PreparedCase::tails_per_epoch() const {
  return std::ranges::count_if(epoch, [](const EpochShape& shape) { return shape.tail_samples > 0; });
}

std::int64_t PreparedCase::planned_bytes() const {
  std::int64_t bytes = 0;
  for (const PreparedRank& rank : ranks) bytes += rank.plan.peak_bytes();
  return bytes;
}

PreparedCase prepare_case(const CaseConfig& config, const LocalRanks& local) {
  PreparedCase p;
  p.config = config;
  p.model = &find_model(config.model);
  open_device(p, local);
  open_case_data(p);
  if (config.mode == "infer") {  // its programs are made one form after the other
    const ForwardPrograms programs = forward_programs(p);
    p.facts = facts(any_program(programs));
    if (!config.weights.empty()) check_weights(config.weights, any_program(programs));
    return p;
  }
  plan_epoch(p);
  plan_loop(p);
  build_case_programs(p);
  p.loader_bytes = loader_bytes(p);
  return p;
}

void require_memory(const PreparedCase& p, std::int64_t available_bytes) {
  const std::int64_t needed = p.planned_bytes() + p.loader_bytes;
  if (needed <= available_bytes) return;
  const std::string ranks = p.ranks.size() > 1 ? fmt::format(" for each of {} replicas", p.config.parallel.dp) : "";
  throw OutOfMemory(fmt::format("a batch of {}{} needs {:.1f} GiB ({:.1f} for the programs, {:.1f} for the data) and "
                                "{:.1f} GiB are available", *p.config.batch, ranks, gib(needed),
                                gib(p.planned_bytes()), gib(p.loader_bytes), gib(available_bytes)),
                    "use a smaller --batch");
}

}  // namespace gpusizer
