// SPDX-License-Identifier: Apache-2.0
// Checks layouts, communication and scaling.
#include "reports/record/check_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gpusizer::record {
namespace {

void check_layout(const Checks& checks, const Parallel& p, const Config& config) {
  const bool positive = p.dp >= 1 && p.pp >= 1 && p.tp >= 1;
  checks.require(positive, "dp", "pp or tp is below 1");
  if (!positive) return;
  constexpr std::int64_t most = 1'000'000;  // far from the end of 64 bits
  const bool sane = p.dp <= most && p.pp <= most && p.tp <= most;
  checks.require(sane && p.ranks == p.dp * p.pp * p.tp, "ranks", "is not dp x pp x tp");
  checks.require(p.ranks == config.devices, "ranks", "is not the number of devices of the configuration");
  checks.require(p.dp == config.replicas, "dp", "is not the number of replicas of the configuration");
  checks.require(p.stages.empty() || static_cast<std::int64_t>(p.stages.size()) == p.pp, "stages",
                 "does not have one number for each of the pp stages");
  checks.require(p.micro_batches >= 1, "micro_batches", "is below 1");
  checks.require(p.norm_group >= 0, "norm_group", "is negative");
  checks.require(p.period >= 0, "period", "is negative");
  checks.require(p.staleness >= 0, "staleness", "is negative");
  checks.require(!p.threads_per_rank || *p.threads_per_rank >= 1, "threads_per_rank", "is below 1");
  if (!p.wire) return;
  checks.at("wire").not_negative(p.wire->latency_seconds, "latency_seconds");
  checks.at("wire").not_negative(p.wire->bytes_per_second, "bytes_per_second");
}

void check_communication(const Checks& checks, const Communication& c, std::int64_t ranks) {
  checks.not_negative(c.exposed_seconds, "exposed_seconds");
  checks.not_negative(c.worst_exposed_seconds, "worst_exposed_seconds");
  checks.not_negative(c.modelled_exposed_seconds, "modelled_exposed_seconds");
  checks.require(!c.exposed_seconds || !c.worst_exposed_seconds ||
                     !(*c.worst_exposed_seconds < *c.exposed_seconds * (1 - 1e-9)),
                 "worst_exposed_seconds", "is below the mean over the ranks");
  checks.require(!c.slowest_rank || (*c.slowest_rank >= 0 && *c.slowest_rank < ranks), "slowest_rank", "is no rank of the case");
  checks.require(c.rank_step_seconds.empty() || static_cast<std::int64_t>(c.rank_step_seconds.size()) == ranks,
                 "rank_step_seconds", "does not have one time for each rank");
  for (std::size_t i = 0; i < c.rank_step_seconds.size(); ++i)
    checks.at("rank_step_seconds").not_negative(c.rank_step_seconds[i], std::to_string(i));
  for (std::size_t i = 0; i < c.bucket_bytes.size(); ++i)
    checks.at("bucket_bytes").not_negative(static_cast<double>(c.bucket_bytes[i]), std::to_string(i));
  for (std::size_t i = 0; i < c.all_reduces.size(); ++i) {
    const Checks here = checks.at("all_reduces", i);
    here.require(c.all_reduces[i].bytes >= 1, "bytes", "is below 1");
    here.not_negative(c.all_reduces[i].seconds, "seconds");
    here.not_negative(c.all_reduces[i].bus_bytes_per_second, "bus_bytes_per_second");
  }
}

// A wire in the program stands for a network that is not there.
void check_wire(const Checks& checks, const Case& run) {
  if (run.throughput.value)
    checks.at("throughput").require(run.throughput.provenance != Provenance::measured, "provenance",
                                    "is measured, but the messages went over a simulated wire");
  const bool blocked = std::ranges::any_of(run.validity_flags, &ValidityFlag::blocks_advice);
  checks.require(blocked || !run.throughput.value, "validity_flags", "has none that blocks advice, but the wire is simulated");
}

void check_ratio(const Checks& checks, const std::optional<Ratio>& ratio) {
  if (!ratio) return;
  checks.not_negative(ratio->value, "value");
  checks.not_negative(ratio->low, "low");
  checks.not_negative(ratio->high, "high");
  checks.require(!(ratio->low > ratio->value), "low", "is above the value");
  checks.require(!(ratio->high < ratio->value), "high", "is below the value");
}

void check_scaling(const Checks& checks, const Scaling& scaling) {
  checks.require(scaling.kind == "weak" || scaling.kind == "strong", "kind", "is not weak or strong");
  checks.require(!scaling.baseline_case.empty(), "baseline_case", "is empty");
  checks.require(scaling.baseline_ranks >= 1, "baseline_ranks", "is below 1");
  checks.require((scaling.speedup && scaling.efficiency) || !scaling.null_reason.empty(), "null_reason",
                 "must say why speedup or efficiency is missing");
  check_ratio(checks.at("speedup"), scaling.speedup);
  check_ratio(checks.at("efficiency"), scaling.efficiency);
}

}  // namespace

void check_ranks(const Checks& checks, const Case& run) {
  const auto& parallel = run.config.parallel;
  if (parallel) check_layout(checks.at("config").at("parallel"), *parallel, run.config);
  if (run.communication) check_communication(checks.at("communication"), *run.communication, run.config.devices);
  if (parallel && parallel->wire) check_wire(checks, run);
  if (run.scaling) check_scaling(checks.at("scaling"), *run.scaling);
}

}  // namespace gpusizer::record
