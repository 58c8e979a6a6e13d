// SPDX-License-Identifier: Apache-2.0
// What an inference case may ask for, and what follows when something was left open.
#include "bench/run_config/check_inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/run_config/check_parallel.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

constexpr std::int64_t kMostRequests = 10'000'000;
constexpr double kHighestRate = 1e6;
constexpr double kServingSeconds = 20;

[[noreturn]] void refuse_flag(const std::string& what, const char* flag, const std::string& hint) {
  throw Error(Fault::usage, what, flag, hint);
}

void refuse_if(bool given, const char* flag, const char* mode) {
  if (given) refuse_flag(fmt::format("only {} has this", mode), flag, "leave it out");
}

void check_serving(const CaseConfig& c) {
  if (c.rate && !(*c.rate > 0 && *c.rate <= kHighestRate))
    refuse_flag(fmt::format("{} requests per second cannot be offered", *c.rate), "--rate",
                "use a number above 0, up to 1000000");
  if (c.requests && (*c.requests < 1 || *c.requests > kMostRequests))
    refuse_flag(fmt::format("{} requests are out of range", *c.requests), "--requests", "use 1 to 10000000");
  if (!(c.prune >= 0 && c.prune < 1))
    refuse_flag(fmt::format("a share of {} cannot be pruned", c.prune), "--prune", "use 0 to below 1");
  if (c.batch && *c.batch < 1) refuse_flag(fmt::format("{} is out of range", *c.batch), "--batch", "use at least 1");
  if (c.max_seconds && !(*c.max_seconds > 0 && std::isfinite(*c.max_seconds)))
    refuse_flag(fmt::format("{} is not a positive number", *c.max_seconds), "--max-seconds", "use a number above 0");
  constexpr std::string_view precisions[] = {"fp32", "int8", "tf32", "fp16", "bf16"};
  if (std::ranges::find(precisions, c.precision) == std::end(precisions))
    refuse_flag(fmt::format("'{}' is not possible", c.precision), "--precision", "use fp32, int8, tf32, fp16 or bf16");
  if (!c.weights.empty() && trains(c))
    refuse_flag("weights are read or trained, not both", "--weights", "leave out --weights or --epochs and --steps");
}

}  // namespace

bool trains(const CaseConfig& c) { return c.mode != "infer" || c.epochs || c.steps; }

void check_mode(const CaseConfig& c) {
  if (c.mode != "train" && c.mode != "infer")
    refuse_flag(fmt::format("'{}' is not possible", c.mode), "--mode", "use train or infer");
  if (c.mode == "train") {
    constexpr const char* mode = "--mode infer";
    refuse_if(c.rate.has_value(), "--rate", mode);
    refuse_if(c.requests.has_value(), "--requests", mode);
    refuse_if(c.prune != 0, "--prune", mode);
    refuse_if(!c.weights.empty(), "--weights", mode);
    refuse_if(c.training_batch.has_value(), "--training-batch", mode);
    if (c.precision == "int8")
      refuse_flag("nothing trains in int8", "--precision", "use fp32, tf32, fp16 or bf16, or add --mode infer");
    return;
  }
  constexpr const char* mode = "--mode train";
  refuse_if(c.target_accuracy.has_value(), "--target-accuracy", mode);
  refuse_if(c.patience != 0, "--patience", mode);
  refuse_if(!c.checkpoint.empty(), "--checkpoint", mode);
  refuse_if(c.max_steps.has_value(), "--max-steps", mode);
}

CaseConfig complete_inference(CaseConfig c) {
  check_serving(c);
  refuse_parallel_inference(c);
  CaseConfig training = c;
  training.batch = c.training_batch;
  CaseConfig done = complete_case(training_of(training));
  done.training_batch = done.batch;
  done.batch = c.batch.value_or(1);
  done.mode = c.mode;
  done.precision = c.precision;
  done.eval = c.eval.value_or(c.data != "synthetic" || trains(c));
  done.rate = c.rate;
  done.requests = c.requests;
  done.max_seconds = c.max_seconds;
  if (!c.requests && !c.max_seconds) done.max_seconds = kServingSeconds;
  done.prune = c.prune;
  done.weights = c.weights;
  return done;
}

CaseConfig training_of(CaseConfig c) {
  if (c.mode == "infer" && c.training_batch) c.batch = c.training_batch;
  c.mode = "train";
  c.precision = "fp32";
  c.eval = false;
  c.training_batch.reset();
  c.rate.reset();
  c.requests.reset();
  c.max_seconds.reset();
  c.prune = 0;
  c.weights.clear();
  return c;
}

}  // namespace gpusizer
