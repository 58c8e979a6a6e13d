// SPDX-License-Identifier: Apache-2.0
// The fields of what a report says about ranks, see fields.hpp.
#pragma once

#include "reports/record/is_struct.hpp"
#include "reports/record/parallel.hpp"

namespace gpusizer::record {

void fields(auto& visit, Is<Wire> auto& w) {
  visit.field("latency_seconds", w.latency_seconds);
  visit.field("bytes_per_second", w.bytes_per_second);
  visit.unknown(w.unknown);
}

void fields(auto& visit, Is<Parallel> auto& p) {
  visit.field("dp", p.dp);
  visit.field("pp", p.pp);
  visit.field("tp", p.tp);
  visit.field("ranks", p.ranks);
  visit.field("transport", p.transport);
  visit.field("threads_per_rank", p.threads_per_rank);
  visit.field("stages", p.stages);
  visit.field("schedule", p.schedule);
  visit.field("micro_batches", p.micro_batches);
  visit.field("sharded_optimizer", p.sharded_optimizer);
  visit.field("recompute", p.recompute);
  visit.field("sync_batch_norm", p.sync_batch_norm);
  visit.field("norm_group", p.norm_group);
  visit.field("mode", p.mode);
  visit.field("period", p.period);
  visit.field("staleness", p.staleness);
  visit.field("scaling", p.scaling);
  visit.absent_or("wire", p.wire);
  visit.unknown(p.unknown);
}

void fields(auto& visit, Is<AllReduceTime> auto& a) {
  visit.field("bytes", a.bytes);
  visit.field("seconds", a.seconds);
  visit.field("bus_bytes_per_second", a.bus_bytes_per_second);
  visit.unknown(a.unknown);
}

void fields(auto& visit, Is<Communication> auto& c) {
  visit.field("exposed_seconds", c.exposed_seconds);
  visit.field("worst_exposed_seconds", c.worst_exposed_seconds);
  visit.field("modelled_exposed_seconds", c.modelled_exposed_seconds);
  visit.field("slowest_rank", c.slowest_rank);
  visit.field("rank_step_seconds", c.rank_step_seconds);
  visit.field("bucket_bytes", c.bucket_bytes);
  visit.field("all_reduces", c.all_reduces);
  visit.unknown(c.unknown);
}

void fields(auto& visit, Is<Ratio> auto& r) {
  visit.field("value", r.value);
  visit.field("low", r.low);
  visit.field("high", r.high);
  visit.unknown(r.unknown);
}

void fields(auto& visit, Is<Scaling> auto& s) {
  visit.field("kind", s.kind);
  visit.field("baseline_case", s.baseline_case);
  visit.field("baseline_ranks", s.baseline_ranks);
  visit.absent_or("speedup", s.speedup);
  visit.absent_or("efficiency", s.efficiency);
  visit.reason("null_reason", s.null_reason);
  visit.unknown(s.unknown);
}

}  // namespace gpusizer::record
