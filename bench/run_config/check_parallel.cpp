// SPDX-License-Identifier: Apache-2.0
// Refuses layouts early, where the flags alone show that they cannot be; the transforms know the rest.
#include "bench/run_config/check_parallel.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "bench/run_config/family.hpp"
#include "bench/run_config/parallel_text.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

constexpr std::int64_t kMostRanks = 4096;
constexpr std::int64_t kLargestJobBatch = 16'777'216;
constexpr std::int64_t kLargestBucketMib = 4096;
constexpr std::int64_t kLongestStaleness = 1000;

[[noreturn]] void refuse_layout(const std::string& what, const char* flag, const std::string& hint) {
  throw Error(Fault::usage, what, flag, hint);
}

void check_factor(std::int64_t value, const char* name) {
  if (value < 1 || value > kMostRanks)
    refuse_layout(fmt::format("{}={} is out of range", name, value), "--parallel", fmt::format("use 1 to {}", kMostRanks));
}

// In a sweep one rank is what the others are compared with; by itself it is a mistake.
bool is_baseline(const ParallelOptions& p) { return p.ranks_of_largest > p.ranks() || p.ranks_of_largest == 1; }

void take_away_what_needs_ranks(ParallelOptions& p) {
  if (p.dp == 1) {
    p.mode = "sync";
    p.period = p.staleness = 0;
    p.sharded = p.sync_batch_norm = false;
  }
  if (p.pp == 1) {
    p.schedule = "1f1b";
    p.stages.clear();
  }
  if (p.ranks() == 1) p.wire.reset();
  if (p.fault && p.fault->rank >= p.ranks()) p.fault.reset();
}

void require_replicas(const ParallelOptions& p, bool asked, const char* flag) {
  if (asked && p.dp == 1) refuse_layout("one replica has nobody to share that with", flag, "add --parallel dp=2, or leave it out");
}

void check_modes(const ParallelOptions& p) {
  if (p.mode == "both")
    refuse_layout("weights are averaged in rounds or asynchronously, not both", "--local-sgd",
                  "leave out --local-sgd or --async-staleness");
  if (p.mode == "sync") return;
  const char* const flag = p.mode == "async" ? "--async-staleness" : "--local-sgd";
  if (p.pp > 1 || p.tp > 1)
    refuse_layout("replicas that step on their own must have the whole model on one rank", flag, "use --parallel dp=N alone");
  require_replicas(p, true, flag);
  if (p.mode == "local_sgd" && (p.period < 1 || p.period > INT32_MAX))
    refuse_layout(fmt::format("a round of {} steps is not possible", p.period), flag, "use 1 or more");
  if (p.mode == "async" && (p.staleness < 0 || p.staleness > kLongestStaleness))
    refuse_layout(fmt::format("a staleness of {} is not possible", p.staleness), flag,
                  fmt::format("use 0 to {}", kLongestStaleness));
  if (p.sharded) refuse_layout("replicas that step on their own cannot share an optimizer", "--shard-optimizer", "leave it out");
  if (p.sync_batch_norm)
    refuse_layout("replicas that step on their own cannot share batch norms", "--sync-batch-norm", "leave it out");
}

// The scale of a step is decided by its gradients; those of an earlier step carry another one.
void check_loss_scale(const CaseConfig& c) {
  if (c.parallel.mode == "async" && c.precision == "fp16")
    refuse_layout("gradients that come later do not fit the loss scale of fp16", "--precision",
                  "use fp32, tf32 or bf16, or leave out --async-staleness");
}

void check_stages(const ParallelOptions& p, const ModelEntry& model, const ModelOptions& options) {
  if (p.schedule != "1f1b" && p.schedule != "gpipe")
    refuse_layout(fmt::format("'{}' is not possible", p.schedule), "--pipeline-schedule", "use 1f1b or gpipe");
  if (p.schedule != "1f1b" && p.pp == 1)
    refuse_layout("there is no pipeline", "--pipeline-schedule", "add --parallel pp=2, or leave it out");
  if (p.stages.empty()) return;
  if (static_cast<std::int64_t>(p.stages.size()) != p.pp)
    refuse_layout(fmt::format("{} stages are given, and the pipeline has {}", p.stages.size(), p.pp), "--stages",
                  fmt::format("add --parallel pp={}, or leave it out", p.stages.size()));
  for (const std::int64_t blocks : p.stages)
    if (blocks < 1) refuse_layout(fmt::format("a stage of {} blocks is not possible", blocks), "--stages", "use 1 or more in each");
  const std::int64_t sum = std::accumulate(p.stages.begin(), p.stages.end(), std::int64_t{0});
  if (options.layers > 0 && sum != options.layers)
    refuse_layout(fmt::format("the stages have {} layers together, and {} has {}", sum, model.name, options.layers), "--stages",
                  fmt::format("write numbers that add up to {}", options.layers));
}

void check_slices(const ParallelOptions& p, const ModelEntry& model, const ModelOptions& options) {
  if (p.tp == 1) return;
  if (options.heads == 0)
    refuse_layout(fmt::format("{} has no attention that ranks could share", model.name), "--parallel",
                  "leave out tp, or use a BERT or temporal");
  const std::int64_t width = options.feed_forward > 0 ? options.feed_forward : 4 * options.hidden;
  if (options.heads % p.tp != 0)
    refuse_layout(fmt::format("{} heads cannot be divided among {} ranks", options.heads, p.tp), "--parallel",
                  "use a tp that divides the heads");
  if (width % p.tp != 0)
    refuse_layout(fmt::format("a feed-forward layer of {} cannot be divided among {} ranks", width, p.tp), "--parallel",
                  "use a tp that divides its width");
}

void check_norms(const CaseConfig& c, const ModelEntry& model) {
  const ParallelOptions& p = c.parallel;
  if (p.norm_group == 0 && !p.sync_batch_norm) return;
  const char* const flag = p.sync_batch_norm ? "--sync-batch-norm" : "--norm-group";
  if (family_of(model).data != DataKind::images)
    refuse_layout(fmt::format("{} has no batch norm", model.name), flag, "leave it out, it is for images");
  if (p.norm_group != 0 && p.sync_batch_norm)
    refuse_layout("batch norms take a group or all samples, not both", flag, "leave out --norm-group or --sync-batch-norm");
  require_replicas(p, p.sync_batch_norm, flag);
  if (p.norm_group < 0 || (p.norm_group > 0 && (*c.batch / c.accumulate) % p.norm_group != 0))
    refuse_layout(fmt::format("{} samples cannot be normalised in groups of {}", *c.batch / c.accumulate, p.norm_group),
                  "--norm-group", "use a divisor of --batch / --accumulate");
}

void check_waiting(const ParallelOptions& p) {
  if (!(p.comm_timeout_seconds > 0 && std::isfinite(p.comm_timeout_seconds)))
    refuse_layout(fmt::format("{} is not a time to wait", p.comm_timeout_seconds), "--comm-timeout", "use seconds above 0");
  if (p.wire && p.wire->latency_seconds >= p.comm_timeout_seconds)
    refuse_layout(fmt::format("a latency of {} s is not below the time-out of {} s", p.wire->latency_seconds,
                              p.comm_timeout_seconds), "--wire", "use a shorter one, or a longer --comm-timeout");
  if (p.bucket_mib < 0 || p.bucket_mib > kLargestBucketMib)
    refuse_layout(fmt::format("{} is out of range", p.bucket_mib), "--bucket-mib", fmt::format("use 0 (one for all gradients) to {}", kLargestBucketMib));
  if (p.wire && p.ranks() == 1) refuse_layout("one rank sends nothing", "--wire", "add --devices 2, or leave it out");
  if (!p.fault) return;
  if (p.fault->rank < 0 || p.fault->rank >= p.ranks())
    refuse_layout(fmt::format("there is no rank {}", p.fault->rank), "--inject-fault",
                  fmt::format("use 0 to {}", p.ranks() - 1));
  if (p.fault->step < 1) refuse_layout(fmt::format("there is no step {}", p.fault->step), "--inject-fault", "use 1 or more");
}

void divide_batch(CaseConfig& c) {
  if (c.parallel.scaling != "strong" || c.job_batch) return;
  c.job_batch = c.batch;
  if (*c.batch % c.parallel.dp != 0)
    refuse_layout(fmt::format("the job's batch of {} cannot be divided among {} replicas", *c.batch, c.parallel.dp), "--batch",
                  "use a multiple of the replicas, or --scaling weak");
  c.batch = *c.batch / c.parallel.dp;
}

}  // namespace

void resolve_layout(ParallelOptions& p) {
  check_factor(p.dp, "dp");
  check_factor(p.pp, "pp");
  check_factor(p.tp, "tp");
  if (p.pp * p.tp > kMostRanks || p.ranks() > kMostRanks)
    refuse_layout(fmt::format("{} ranks are out of range", p.ranks()), "--parallel", fmt::format("use up to {}", kMostRanks));
  if (p.devices) {
    const std::int64_t in_replica = p.pp * p.tp;
    if (*p.devices < 1 || *p.devices > kMostRanks)
      refuse_layout(fmt::format("{} is out of range", *p.devices), "--devices", fmt::format("use 1 to {}", kMostRanks));
    if (!p.dp_given && *p.devices % in_replica != 0)
      refuse_layout(fmt::format("{} devices are no whole number of replicas of {}", *p.devices, in_replica), "--devices",
                    "use a multiple of pp x tp");
    if (!p.dp_given) p.dp = *p.devices / in_replica;
    if (p.ranks() != *p.devices)
      refuse_layout(fmt::format("the layout has {} ranks, not {}", p.ranks(), *p.devices), "--devices",
                    "leave out --devices, or the dp of --parallel");
  }
  p.devices = p.ranks();
  p.dp_given = true;
}

void fill_parallel(CaseConfig& c) {
  if (c.parallel.scaling != "weak" && c.parallel.scaling != "strong")
    refuse_layout(fmt::format("'{}' is not possible", c.parallel.scaling), "--scaling", "use weak or strong");
  divide_batch(c);
  if (is_baseline(c.parallel)) take_away_what_needs_ranks(c.parallel);
}

void check_parallel(const CaseConfig& c) {
  const ModelEntry& model = find_model(c.model);
  const ModelOptions options = with_defaults(model, c.options);
  check_modes(c.parallel);
  check_loss_scale(c);
  require_replicas(c.parallel, c.parallel.sharded, "--shard-optimizer");
  check_stages(c.parallel, model, options);
  check_slices(c.parallel, model, options);
  check_norms(c, model);
  check_waiting(c.parallel);
  if (*c.batch > kLargestJobBatch / c.parallel.dp)
    refuse_layout(fmt::format("a job's batch of {} x {} is out of range", c.parallel.dp, *c.batch), "--batch",
                  fmt::format("use up to {} in all replicas together", kLargestJobBatch));
}

void refuse_parallel_inference(const CaseConfig& c) {
  const ParallelOptions& p = c.parallel;
  if (p.ranks() > 1 || p.devices.value_or(1) > 1)
    refuse_layout("requests are answered by one rank", p.devices.value_or(1) > 1 ? "--devices" : "--parallel", "leave it out");
  if (const std::string words = parallel_id_words(p); !words.empty())
    refuse_layout(fmt::format("only --mode train has '{}'", words.substr(1)), "--mode", "leave it out");
}

}  // namespace gpusizer
