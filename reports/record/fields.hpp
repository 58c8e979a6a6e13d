// SPDX-License-Identifier: Apache-2.0
// The fields of each struct of a report with their JSON names, in the order of the file. Reading and writing both walk
// these lists, so that they cannot differ. A new field: one line here, one in the struct, one in report.schema.json.
#pragma once

#include "reports/record/is_struct.hpp"
#include "reports/record/parallel_fields.hpp"
#include "reports/record/record.hpp"

namespace gpusizer::record {

// A visitor has: field(name, value), required when reading, except that an absent Maybe is missing; nullable(name,
// optional struct, null_reason); absent_or(name, optional struct); reason(name, text) and
// numbers(name, Numbers), left out when empty; unknown(fields).

void fields(auto& visit, Is<Metric> auto& m) {
  visit.field("id", m.id);
  visit.field("value", m.value);
  visit.field("low", m.low);
  visit.field("high", m.high);
  visit.reason("null_reason", m.null_reason);
  visit.field("unit", m.unit);
  visit.field("scope", m.scope);
  visit.field("better", m.better);
  visit.field("aliases", m.aliases);
  visit.field("samples", m.samples);
  visit.field("provenance", m.provenance);
  visit.unknown(m.unknown);
}

void fields(auto& visit, Is<Throughput> auto& t) {
  visit.field("value", t.value);
  visit.field("low", t.low);
  visit.field("high", t.high);
  visit.reason("null_reason", t.null_reason);
  visit.field("unit", t.unit);
  visit.field("scope", t.scope);
  visit.field("provenance", t.provenance);
  visit.unknown(t.unknown);
}

void fields(auto& visit, Is<SeriesFile> auto& s) {
  visit.field("name", s.name);
  visit.field("sha256", s.sha256);
  visit.field("bytes", s.bytes);
  visit.field("steps", s.steps);
  visit.unknown(s.unknown);
}

void fields(auto& visit, Is<Tokens> auto& t) {
  visit.field("real_tokens", t.real_tokens);
  visit.field("padded_tokens", t.padded_tokens);
  visit.field("tokens_per_second", t.tokens_per_second);
  visit.unknown(t.unknown);
}

void fields(auto& visit, Is<Skips> auto& s) {
  visit.field("steps", s.steps);
  visit.unknown(s.unknown);
}

void fields(auto& visit, Is<Measurement> auto& m) {
  visit.field("stop_reason", m.stop_reason);
  visit.field("warmup_steps", m.warmup_steps);
  visit.field("measured_steps", m.measured_steps);
  visit.field("tail_steps", m.tail_steps);
  visit.field("samples", m.samples);
  visit.absent_or("skipped", m.skipped);
  visit.absent_or("tokens", m.tokens);
  visit.field("measured_seconds", m.measured_seconds);
  visit.field("mean_step_seconds", m.mean_step_seconds);
  visit.field("p50_step_seconds", m.p50_step_seconds);
  visit.field("p95_step_seconds", m.p95_step_seconds);
  visit.field("sd_step_seconds", m.sd_step_seconds);
  visit.field("half_width_relative", m.half_width_relative);
  visit.field("target_half_width_relative", m.target_half_width_relative);
  visit.field("stall_steps", m.stall_steps);
  visit.field("stall_rate", m.stall_rate);
  visit.field("stall_rate_upper", m.stall_rate_upper);
  visit.field("data_wait_seconds", m.data_wait_seconds);
  visit.absent_or("series_file", m.series_file);
  visit.field("block_steps", m.block_steps);
  visit.field("block_mean_seconds", m.block_mean_seconds);
  visit.field("step_seconds", m.step_seconds);
  visit.unknown(m.unknown);
}

void fields(auto& visit, Is<Phases> auto& p) {
  visit.field("input_seconds", p.input_seconds);
  visit.field("forward_seconds", p.forward_seconds);
  visit.field("backward_seconds", p.backward_seconds);
  visit.field("update_seconds", p.update_seconds);
  visit.absent_or("communicate_seconds", p.communicate_seconds);
  visit.field("profiled_steps", p.profiled_steps);
  visit.unknown(p.unknown);
}

void fields(auto& visit, Is<Memory> auto& m) {
  visit.field("planned_peak_bytes", m.planned_peak_bytes);
  visit.field("allocated_bytes", m.allocated_bytes);
  visit.field("peak_rss_bytes", m.peak_rss_bytes);
  visit.unknown(m.unknown);
}

void fields(auto& visit, Is<Checkpoints> auto& c) {
  visit.field("count", c.count);
  visit.field("bytes", c.bytes);
  visit.field("mean_seconds", c.mean_seconds);
  visit.field("last_seconds", c.last_seconds);
  visit.field("resumed_at_step", c.resumed_at_step);
  visit.unknown(c.unknown);
}

void fields(auto& visit, Is<InferenceRequest> auto& r) {
  visit.field("weights", r.weights);
  visit.field("arrivals", r.arrivals);
  visit.field("offered_requests_per_second", r.offered_requests_per_second);
  visit.field("pruned_share", r.pruned_share);
  visit.unknown(r.unknown);
}

void fields(auto& visit, Is<InferenceRun> auto& r) {
  visit.field("name", r.name);
  visit.field("precision", r.precision);
  visit.field("provenance", r.provenance);
  visit.field("stop_reason", r.stop_reason);
  visit.field("requests", r.requests);
  visit.field("warmup_requests", r.warmup_requests);
  visit.field("samples", r.samples);
  visit.field("elapsed_seconds", r.elapsed_seconds);
  visit.field("samples_per_second", r.samples_per_second);
  visit.field("requests_per_second", r.requests_per_second);
  visit.field("mean_seconds", r.mean_seconds);
  visit.field("p50_seconds", r.p50_seconds);
  visit.field("p90_seconds", r.p90_seconds);
  visit.field("p99_seconds", r.p99_seconds);
  visit.field("longest_seconds", r.longest_seconds);
  visit.field("busy_share", r.busy_share);
  visit.field("accuracy", r.accuracy);
  visit.field("loss", r.loss);
  visit.field("evaluated_samples", r.evaluated_samples);
  visit.numbers("outputs", r.outputs);
  visit.field("zero_share", r.zero_share);
  visit.field("integer_share", r.integer_share);
  visit.field("calibration_samples", r.calibration_samples);
  visit.field("weight_bytes", r.weight_bytes);
  visit.field("planned_bytes", r.planned_bytes);
  visit.unknown(r.unknown);
}

void fields(auto& visit, Is<Inference> auto& i) {
  visit.field("runs", i.runs);
  visit.unknown(i.unknown);
}

void fields(auto& visit, Is<LossPoint> auto& p) {
  visit.field("step", p.step);
  visit.field("loss", p.loss);
  visit.unknown(p.unknown);
}

void fields(auto& visit, Is<Evaluation> auto& e) {
  visit.field("epochs", e.epochs);
  visit.field("accuracy", e.accuracy);
  visit.field("loss", e.loss);
  visit.field("samples", e.samples);
  visit.field("training_seconds", e.training_seconds);
  visit.numbers("outputs", e.outputs);
  visit.unknown(e.unknown);
}

void fields(auto& visit, Is<Training> auto& t) {
  visit.field("final_loss", t.final_loss);
  visit.field("accuracy", t.accuracy);
  visit.field("epochs", t.epochs);
  visit.field("time_to_target_seconds", t.time_to_target_seconds);
  visit.field("non_finite_step", t.non_finite_step);
  visit.field("evaluations", t.evaluations);
  visit.numbers("baselines", t.baselines);
  visit.field("loss_curve", t.loss_curve);
  visit.unknown(t.unknown);
}

void fields(auto& visit, Is<Tool> auto& t) {
  visit.field("name", t.name);
  visit.field("version", t.version);
  visit.field("git_commit", t.git_commit);
  visit.field("build_type", t.build_type);
  visit.field("compiler", t.compiler);
  visit.unknown(t.unknown);
}

void fields(auto& visit, Is<Instance> auto& i) {
  visit.field("cloud", i.cloud);
  visit.field("type", i.type);
  visit.field("region", i.region);
  visit.field("detected_by", i.detected_by);
  visit.unknown(i.unknown);
}

void fields(auto& visit, Is<Device> auto& d) {
  visit.field("kind", d.kind);
  visit.field("name", d.name);
  visit.field("memory_bytes", d.memory_bytes);
  visit.unknown(d.unknown);
}

void fields(auto& visit, Is<Environment> auto& e) {
  visit.field("host_name", e.host_name);
  visit.field("cpu_model", e.cpu_model);
  visit.field("cpu_flags", e.cpu_flags);
  visit.field("cpu_cores", e.cpu_cores);
  visit.field("cpu_threads", e.cpu_threads);
  visit.field("memory_bytes", e.memory_bytes);
  visit.field("os", e.os);
  visit.field("kernel", e.kernel);
  visit.field("devices", e.devices);
  visit.field("libraries", e.libraries);
  visit.field("variables", e.variables);
  visit.nullable("instance", e.instance, e.instance_null_reason);
  visit.unknown(e.unknown);
}

void fields(auto& visit, Is<OptimizerDetails> auto& o) {
  visit.field("micro_batches", o.micro_batches);
  visit.field("clip_norm", o.clip_norm);
  visit.field("l1", o.l1);
  visit.field("beta1", o.beta1);
  visit.field("beta2", o.beta2);
  visit.unknown(o.unknown);
}

void fields(auto& visit, Is<Config> auto& c) {
  visit.field("model", c.model);
  visit.field("model_options", c.model_options);
  visit.field("data", c.data);
  visit.field("data_options", c.data_options);
  visit.field("dataset_samples", c.dataset_samples);
  visit.field("device_kind", c.device_kind);
  visit.field("device", c.device);
  visit.field("devices", c.devices);
  visit.field("replicas", c.replicas);
  visit.field("batch_per_replica", c.batch_per_replica);
  visit.field("threads", c.threads);
  visit.field("precision", c.precision);
  visit.field("seed", c.seed);
  visit.field("optimizer", c.optimizer);
  visit.absent_or("optimizer_details", c.optimizer_details);
  visit.field("learning_rate", c.learning_rate);
  visit.field("momentum", c.momentum);
  visit.field("weight_decay", c.weight_decay);
  visit.field("learning_rate_schedule", c.learning_rate_schedule);
  visit.field("requested_epochs", c.requested_epochs);
  visit.field("target_accuracy", c.target_accuracy);
  visit.field("max_seconds", c.max_seconds);
  visit.field("max_steps", c.max_steps);
  visit.absent_or("inference", c.inference);
  visit.absent_or("parallel", c.parallel);
  visit.unknown(c.unknown);
}

void fields(auto& visit, Is<Facts> auto& f) {
  visit.field("parameters", f.parameters);
  visit.field("forward_macs_per_sample", f.forward_macs_per_sample);
  visit.field("model_flops_per_sample", f.model_flops_per_sample);
  visit.field("gradient_bytes", f.gradient_bytes);
  visit.unknown(f.unknown);
}

void fields(auto& visit, Is<ValidityFlag> auto& f) {
  visit.field("id", f.id);
  visit.field("sentence", f.sentence);
  visit.field("blocks_advice", f.blocks_advice);
  visit.unknown(f.unknown);
}

void fields(auto& visit, Is<Fingerprint> auto& f) {
  visit.field("identity_hash", f.identity_hash);
  visit.field("environment_hash", f.environment_hash);
  visit.field("identity", f.identity);
  visit.field("environment", f.environment);
  visit.field("state", f.state);
  visit.unknown(f.unknown);
}

void fields(auto& visit, Is<Case> auto& c) {
  visit.field("id", c.id);
  visit.field("status", c.status);
  visit.field("reason", c.reason);
  visit.field("started_utc", c.started_utc);
  visit.field("config", c.config);
  visit.field("throughput", c.throughput);
  visit.field("validity_flags", c.validity_flags);
  visit.field("metrics", c.metrics);
  visit.field("facts", c.facts);
  visit.field("phases", c.phases);
  visit.field("memory", c.memory);
  visit.absent_or("checkpoints", c.checkpoints);
  visit.absent_or("inference", c.inference);
  visit.absent_or("communication", c.communication);
  visit.absent_or("scaling", c.scaling);
  visit.field("fingerprint", c.fingerprint);
  visit.field("training", c.training);
  visit.field("measurement", c.measurement);
  visit.unknown(c.unknown);
}

void fields(auto& visit, Is<Report> auto& r) {
  visit.field("schema", r.schema);
  visit.field("created_utc", r.created_utc);
  visit.field("status", r.status);
  visit.field("provenance", r.provenance);
  visit.field("tool", r.tool);
  visit.field("command_line", r.command_line);
  visit.field("environment", r.environment);
  visit.field("cases", r.cases);
  visit.unknown(r.unknown);
}

}  // namespace gpusizer::record
