// SPDX-License-Identifier: Apache-2.0
// A small report with one case of each kind that matters, for tests: trained, failed, interrupted, spread
// over ranks.
#pragma once

#include "reports/record/fingerprint.hpp"
#include "reports/record/record.hpp"
#include "reports/record/scaling.hpp"
#include "reports/record/statistics.hpp"

namespace gpusizer::record {

// Ten steps of a batch of 100 after two of warm-up: nine of 0.1 s and one stall of 1.1 s, so 1000 / 2.0 s = 500/s.
inline Measurement example_measurement() {
  Measurement m;
  m.step_seconds = {0.25, 0.125, 0.1, 0.1, 0.1, 0.1, 1.1, 0.1, 0.1, 0.1, 0.1, 0.1};
  m.warmup_steps = 2;
  m.skipped = Skips{};
  m.measured_steps = 10;
  m.samples = 1000;
  m.tokens = Tokens{90'000, 38'000, 45'000.0, {}};
  m.measured_seconds = 2.0;
  fill_step_summary(m);
  m.half_width_relative = 0.0175;
  m.target_half_width_relative = 0.02;
  m.stop_reason = "precision_reached";
  m.stall_steps = 1;
  m.stall_rate = 0.1;
  m.stall_rate_upper = 0.557;
  m.data_wait_seconds = 0.004;
  return m;
}

inline Environment example_environment() {
  Environment e;
  e.host_name = "ip-10-0-0-7";
  e.cpu_model = "Example CPU 8000 @ 2.4 GHz";
  e.cpu_flags = {"avx2", "avx512f", "fma"};
  e.cpu_cores = 2;
  e.cpu_threads = 4;
  e.memory_bytes = 8'242'331'648;
  e.os = "Debian GNU/Linux 12 (bookworm)";
  e.kernel = "Linux 6.1.0-25-amd64";
  e.devices = {{"cpu", e.cpu_model, 8'242'331'648, {}}};
  e.libraries = {{"oneDNN", "2.6.3"}};
  e.variables = {{"OMP_NUM_THREADS", "4"}};
  e.instance = Instance{"aws", "c7i.xlarge", "us-east-1", "instance metadata", {}};
  e.instance_null_reason = "";
  return e;
}

inline Config example_config() {
  Config c;
  c.model = "resnet8";
  c.model_options = {{"classes", "10"}, {"channels", "1"}};
  c.data = "fashion-mnist";
  c.dataset_samples = 60000;
  c.device = "Example CPU 8000 @ 2.4 GHz";
  c.batch_per_replica = 100;
  c.threads = 4;
  c.seed = 42;
  c.optimizer = "sgd";
  c.optimizer_details = OptimizerDetails{.micro_batches = 2, .clip_norm = 1, .l1 = 0, .beta1 = 0.9, .beta2 = 0.999, .unknown = {}};
  c.learning_rate = 0.1;
  c.momentum = 0.9;
  c.weight_decay = 0.0005;
  c.learning_rate_schedule = "constant";
  c.requested_epochs = 3.0;
  c.target_accuracy = Maybe<double>::missing("not asked for");
  c.max_seconds = 30.0;
  c.max_steps = Maybe<std::int64_t>::missing("not asked for");
  return c;
}

inline Case example_case() {
  Case run;
  run.id = "resnet8/fashion-mnist/b100/fp32/cpu";
  run.config = example_config();
  run.status = CaseStatus::ok;
  run.started_utc = "2026-01-31T12:00:00Z";
  run.facts = {77850, 12'501'760, 72'000'000, 311400, {}};
  run.measurement = example_measurement();
  run.throughput = {500.0, 491.25, 508.75, "", "images/s", Scope::job, Provenance::measured, {}};
  run.phases = {0.0004, 0.031, 0.062, 0.0066, 20, {}};
  run.memory = {52'428'800, 52'690'944, 181'403'648, {}};
  run.checkpoints = {2, 623'412, 0.0121, 0.0117, Maybe<std::int64_t>::missing("it was not interrupted"), {}};
  run.training.loss_curve = {{1, 2.302585092994046, {}}, {6, 1.25, {}}, {12, 0.1, {}}};
  run.training.evaluations = {{3.0, 0.9123, 0.2514, 10000, 61.5, {{"mlm_loss", 2.5}, {"ratio", {}}}, {}}};
  run.training.baselines = {{"unigram_entropy_nats", 6.25}};
  run.training.final_loss = 0.1;
  run.training.accuracy = 0.9123;
  run.training.epochs = 3.0;
  run.training.time_to_target_seconds = Maybe<double>::missing("no target was asked for");
  run.training.non_finite_step = Maybe<std::int64_t>::missing("every loss was finite");
  run.metrics = {{"throughput", 500.0, 491.25, 508.75, "", "images/s", Scope::job, Better::higher, {}, {},
                  Provenance::measured, {}},
                 {"accuracy", 0.9123, {}, {}, "one run has no interval", "1", Scope::job, Better::higher,
                  {"test_accuracy"}, {0.9123}, Provenance::measured, {}}};
  run.fingerprint = make_fingerprint(run.config, example_environment(), {}, {{"load_average", "0.12"}});
  return run;
}

inline Case example_failed_case() {
  Case run;
  run.id = "resnet50/synthetic/b4096/fp32/cpu";
  run.config = example_config();
  run.config.model = "resnet50";
  run.config.data = "synthetic";
  run.config.dataset_samples = Maybe<std::int64_t>::missing("synthetic data has no end");
  run.config.batch_per_replica = 4096;
  run.status = CaseStatus::oom;
  run.reason = "the plan needs 96.2 GiB, the machine has 7.7 GiB";
  run.throughput.null_reason = "the case did not start";
  run.validity_flags = {{"out_of_memory", "The model does not fit into the memory at this batch.", true, {}}};
  return run;
}

// 200 requests of 4 samples in 10 s, of which half the time nothing was asked for.
inline InferenceRun example_inference_run() {
  InferenceRun run;
  run.name = run.precision = "int8";
  run.stop_reason = "interrupted";
  run.requests = 50;
  run.warmup_requests = 3;
  run.samples = 200;
  run.elapsed_seconds = 10.0;
  run.samples_per_second = 20.0;
  run.requests_per_second = 5.0;
  run.mean_seconds = 0.11;
  run.p50_seconds = 0.1;
  run.p90_seconds = 0.15;
  run.p99_seconds = Maybe<double>::missing("50 requests are too few, at least 100 are needed");
  run.longest_seconds = 0.25;
  run.busy_share = 0.5;
  run.accuracy = 0.905;
  run.loss = 0.26;
  run.evaluated_samples = 10000;
  run.outputs = {{"mlm_loss", 2.5}};
  run.zero_share = 0.5;
  run.integer_share = 0.97;
  run.calibration_samples = 256;
  run.weight_bytes = 80'000;
  run.planned_bytes = 5'000'000;
  return run;
}

inline Case example_interrupted_case() {
  Case run = example_case();
  run.id = "resnet8/fashion-mnist/b100/fp32/cpu/2";
  run.status = CaseStatus::interrupted;
  run.reason = "SIGTERM";
  run.measurement.stop_reason = "interrupted";
  run.config.inference = InferenceRequest{"trained", "poisson", 5.0, 0.5, {}};
  run.inference = Inference{{example_inference_run()}, {}};
  run.measurement.half_width_relative = 0.061;
  run.metrics.clear();
  run.training = {};
  run.validity_flags = {{"precision_not_reached", "The half width is 6.1 %, 2.0 % was asked for.", false, {}},
                        {"unfinished", "A signal ended the case before it was done.", true, {}}};
  return run;
}

// The first case's workload on two ranks: twice the samples in steps of 0.2 / 0.19 times as long.
inline Case example_ranks_case() {
  Case run = example_case();
  run.id = "resnet8/fashion-mnist/b100/fp32/cpu/dp2";
  run.config.devices = run.config.replicas = 2;
  run.config.parallel = Parallel{.dp = 2, .pp = 1, .tp = 1, .ranks = 2, .transport = "threads", .threads_per_rank = 4,
                                 .stages = {}, .schedule = "", .micro_batches = 2, .sharded_optimizer = true,
                                 .recompute = false, .sync_batch_norm = false, .norm_group = 0, .mode = "sync",
                                 .period = 0, .staleness = 0, .scaling = "weak", .wire = {}, .unknown = {}};
  run.measurement.step_seconds.assign(10, 0.2);
  run.measurement.warmup_steps = 2;
  run.measurement.measured_steps = 8;
  run.measurement.samples = 1520;
  run.measurement.measured_seconds = 1.6;
  run.measurement.tokens = {};
  run.throughput = {950.0, 931.0, 969.0, "", "images/s", Scope::job, Provenance::measured, {}};
  run.phases.communicate_seconds = 0.012;
  run.communication = Communication{{102'400, 209'000}, 0.0031, 0.0044, 0.0029,
                                    {{209'000, 0.0002, 1.045e9, {}}, {102'400, Maybe<double>::missing("not measured"),
                                     Maybe<double>::missing("not measured"), {}}}, {0.0969, 0.0982}, 1, {}};
  run.metrics.clear();
  run.training = {};
  run.checkpoints = {};
  run.fingerprint = make_fingerprint(run.config, example_environment(), {}, {});
  return run;
}

inline Report example_report() {
  Report report;
  report.created_utc = "2026-01-31T12:01:30Z";
  report.status = ReportStatus::interrupted;
  report.tool = {"gpusizer", "0.1.0", "c14e6e4d", "Release", "GNU 12.2.0", {}};
  report.command_line = "gpusizer run --suite smoke --out r.json";
  report.environment = example_environment();
  report.cases = {example_case(), example_failed_case(), example_interrupted_case(), example_ranks_case()};
  fill_scaling(report);
  return report;
}

}  // namespace gpusizer::record
