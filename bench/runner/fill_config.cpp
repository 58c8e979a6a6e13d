// SPDX-License-Identifier: Apache-2.0
// Configuration and facts -> record.
#include "bench/runner/fill_config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/transforms/mixed_precision.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/run_config/model_flags.hpp"
#include "bench/runner/metrics.hpp"

namespace gpusizer {
namespace {

using record::Maybe;

template <class T>
Maybe<T> asked(const std::optional<T>& value) { return Maybe<T>(value, "not asked for"); }

record::StringMap model_words(const ModelOptions& options) {
  record::StringMap words;
  const ModelOptions none;
  for (const NamedNumber& option : number_options())
    if (options.*option.member != none.*option.member) words[std::string(option.name)] = std::to_string(options.*option.member);
  for (const NamedWord& option : word_options())
    if (!(options.*option.member).empty()) words[std::string(option.name)] = options.*option.member;
  for (const NamedShare& option : share_options())
    if (options.*option.member) words[std::string(option.name)] = fmt::format("{}", *(options.*option.member));
  return words;
}

// Without what the model's options say already: the images have its size and channels, and most often its classes.
record::StringMap data_words(const PreparedCase& p) {
  const SourceFacts& facts = p.train_data->facts();
  record::StringMap words{{"tail", p.config.tail}, {"augment", *p.config.augment ? "on" : "off"}};
  const auto differs = [&](const char* name, std::int64_t fact, std::int64_t option) {
    if (fact > 0 && fact != option) words[name] = std::to_string(fact);
  };
  differs("classes", facts.classes, p.model_options.classes);
  differs("vocabulary", facts.vocabulary, p.model_options.vocabulary);
  if (facts.bucket_lengths.size() > 1) words["buckets"] = fmt::format("{}", fmt::join(facts.bucket_lengths, ","));
  if (!p.config.columns.empty()) words["columns"] = fmt::format("{}", fmt::join(p.config.columns, ","));
  for (const auto& [name, word] : {std::pair{"target_base", p.config.target_base}, {"rows", p.config.rows}})
    if (!word.empty()) words[name] = word;
  if (!p.config.targets.empty()) words["targets"] = fmt::format("{}", fmt::join(p.config.targets, ","));
  if (!facts.location.empty()) words["path"] = facts.location;
  if (!facts.preparation.empty()) words["preparation"] = facts.preparation;
  return words;
}

// A precision that the device only rounds to shows how a model learns in it, never how fast.
void mark_emulated(record::Case& record, const PreparedCase& p) {
  if (p.config.mode == "infer") return;  // each form says it of itself
  const auto emulated = p.backend->target(p.device).emulated_dtypes;
  if (std::ranges::find(emulated, element_type(precision(p.config.precision))) == emulated.end()) return;
  record.throughput.provenance = record::Provenance::emulated;
  // Where even fp32 is, the device itself stands for another one.
  if (std::ranges::find(emulated, DType::f32) != emulated.end())
    return add_flag(record, "emulated_device", fmt::format("{} is emulated: its numbers are right, its speed means nothing.",
                                                           p.device.name), true);
  add_flag(record, "emulated_precision",
           fmt::format("{} is emulated on this device by rounding fp32 results; only fp32 is fast here.", p.config.precision),
           true);
}

std::optional<record::Parallel> parallel_of(const CaseConfig& c) {
  const ParallelOptions& p = c.parallel;
  if (p.ranks() == 1 && !p.recompute && p.norm_group == 0) return std::nullopt;
  record::Parallel r{.dp = p.dp, .pp = p.pp, .tp = p.tp, .ranks = p.ranks(),
                     .transport = p.ranks() > 1 ? "threads" : "none"};
  r.threads_per_rank = c.threads > 0 ? Maybe<std::int64_t>(c.threads)
                                     : Maybe<std::int64_t>::missing("all, and no device was opened");
  if (p.pp > 1) r.stages = p.stages;
  if (p.pp > 1) r.schedule = p.schedule;
  r.micro_batches = c.accumulate;
  r.sharded_optimizer = p.sharded;
  r.recompute = p.recompute;
  r.sync_batch_norm = p.sync_batch_norm;
  r.norm_group = p.norm_group;
  r.mode = p.mode;
  r.period = p.period;
  r.staleness = p.staleness;
  r.scaling = p.scaling;
  if (p.wire)
    r.wire = record::Wire{.latency_seconds = p.wire->latency_seconds, .bytes_per_second = p.wire->bytes_per_second,
                          .unknown = {}};
  return r;
}

// What a layout does to the meaning of a case's numbers.
void flag_ranks(record::Case& record, const PreparedCase& p) {
  const ParallelOptions& layout = p.config.parallel;
  if (p.left_out_samples > 0)
    add_flag(record, "samples_left_out",
         fmt::format("{} samples at the end of an epoch were left out, {}.", p.left_out_samples,
                     p.config.accumulate > 1 ? "too few for a step of whole micro-batches"
                                             : fmt::format("fewer than the {} replicas", layout.dp)), false);
  if (layout.mode == "async")
    add_flag(record, "asynchronous",
             fmt::format("Asynchronous training, staleness {}: each step updated with the gradients of {} steps before.",
                         layout.staleness, layout.staleness), false);
  if (layout.wire) {
    record.throughput.provenance = record::Provenance::emulated;
    add_flag(record, "simulated_wire", "Messages between the ranks were delayed on purpose, as a network would.", true);
  }
  if (p.config.device == "cpu" && p.shares_cores)
    add_flag(record, "shared_cores", "There are more ranks than processor cores: they wait for each other.", true);
}

}  // namespace

record::Config requested_config(const CaseConfig& c) {
  record::Config r;
  r.model = c.model;
  r.data = c.data.substr(0, c.data.find(':'));
  r.dataset_samples = Maybe<std::int64_t>::missing("the data was not opened");
  r.device_kind = c.device;
  r.devices = c.parallel.ranks();
  r.replicas = c.parallel.dp;
  r.batch_per_replica = *c.batch;
  r.parallel = parallel_of(c);
  r.threads = c.threads > 0 ? Maybe<std::int64_t>(c.threads) : Maybe<std::int64_t>::missing("all, and no device was opened");
  r.precision = c.precision;
  r.seed = c.seed;
  r.optimizer = c.optimizer;
  r.optimizer_details = {.micro_batches = c.accumulate, .clip_norm = c.clip_norm, .l1 = c.l1, .beta1 = c.beta1, .beta2 = c.beta2};
  r.learning_rate = *c.lr;
  r.momentum = *c.momentum;
  r.weight_decay = *c.weight_decay;
  r.learning_rate_schedule = c.schedule;
  r.requested_epochs = asked(c.epochs);
  r.target_accuracy = asked(c.target_accuracy);
  r.max_seconds = asked(c.max_seconds);
  r.max_steps = asked(c.steps ? c.steps : c.max_steps);
  if (c.mode == "infer")
    r.inference = record::InferenceRequest{
        .weights = !c.weights.empty() ? "file" : trains(c) ? "trained" : "random",
        .arrivals = c.rate ? "poisson" : "back_to_back",
        .offered_requests_per_second = Maybe<double>(c.rate, "each request came when the one before was done"),
        .pruned_share = c.prune, .unknown = {}};
  return r;
}

void fill_prepared(record::Case& record, const PreparedCase& p) {
  record.config.model_options = model_words(p.model_options);
  record.config.data = p.train_data->name();
  record.config.data_options = data_words(p);
  record.config.dataset_samples = is_endless(p.config) ? Maybe<std::int64_t>::missing("made-up data has no end")
                                                       : Maybe<std::int64_t>(p.train_data->size());
  record.config.device = p.device.model;
  const auto threads_of = [&](std::size_t ranks) {
    return p.device.threads > 0 ? Maybe<std::int64_t>(p.device.threads * static_cast<std::int64_t>(ranks))
                                : Maybe<std::int64_t>::missing("no processor threads compute on this device");
  };
  record.config.threads = threads_of(p.ranks.size());
  if (record.config.parallel) record.config.parallel->threads_per_rank = threads_of(1);
  record.facts.parameters = p.facts.parameters;
  record.facts.forward_macs_per_sample = p.facts.forward_macs_per_sample;
  record.facts.model_flops_per_sample = p.facts.flops_per_sample;
  record.facts.gradient_bytes = p.facts.gradient_bytes;
  record.memory.planned_peak_bytes = p.planned_bytes();
  mark_emulated(record, p);
  flag_ranks(record, p);
}

}  // namespace gpusizer
