// SPDX-License-Identifier: Apache-2.0
// The rules of a case: what is refused before anything starts, and what follows from what.
#include <fmt/format.h>

#include <cmath>

#include "bench/run_config/check_inference.hpp"
#include "bench/run_config/check_parallel.hpp"
#include "bench/run_config/family.hpp"
#include "bench/run_config/model_flags.hpp"
#include "bench/run_config/parallel_text.hpp"
#include "bench/run_config/run_config.hpp"
#include "gpusizer/error.hpp"
#include "workloads/models/models.hpp"

namespace gpusizer {
namespace {

constexpr std::int64_t kLargestBatch = 16'777'216;  // keeps every byte count far from the end of 64 bits
constexpr std::int64_t kLongestBucket = 1'000'000;
constexpr std::int64_t kMostThreads = 1024;
constexpr std::int64_t kMostMicroBatches = 64;  // the step repeats its program for each
constexpr double kEpochsWorthAugmenting = 10;

[[noreturn]] void refuse(const std::string& what, const char* flag, const std::string& hint) {
  throw Error(Fault::usage, what, flag, hint);
}

void check_range(std::int64_t value, std::int64_t low, std::int64_t high, const char* flag) {
  if (value < low || value > high)
    refuse(fmt::format("{} is out of range", value), flag, fmt::format("use {} to {}", low, high));
}

void check_positive(const std::optional<double>& value, const char* flag) {
  if (value && !(*value > 0 && std::isfinite(*value)))
    refuse(fmt::format("{} is not a positive number", *value), flag, "use a number above 0");
}

void check_word(const std::string& word, std::initializer_list<const char*> allowed, const char* flag) {
  std::string all;
  for (const char* one : allowed) {
    if (word == one) return;
    all += fmt::format("{}{}", all.empty() ? "" : " or ", one);
  }
  refuse(fmt::format("'{}' is not possible", word), flag, "use " + all);
}

void check_sizes(const CaseConfig& c) {
  check_range(*c.batch, 1, kLargestBatch, "--batch");
  check_range(c.synthetic_samples, 0, INT32_MAX, "--synthetic-samples");
  check_range(c.threads, 0, kMostThreads, "--threads");
  check_range(c.loader_threads, 0, kMostThreads, "--loader-threads");
  check_range(static_cast<std::int64_t>(c.seed), 0, INT64_MAX, "--seed");
}

void check_words(const CaseConfig& c) {
  if (!c.target_base.empty()) check_word(c.target_base, {"none", "last", "season"}, "--target-base");
  check_word(c.tail, {"keep", "drop"}, "--tail");
  check_word(c.schedule, {"constant", "cosine", "linear", "step"}, "--schedule");
  check_word(c.optimizer, {"sgd", "adam", "adamw", "adagrad", "lamb"}, "--optimizer");
  check_word(c.precision, {"fp32", "tf32", "fp16", "bf16"}, "--precision");
}

// What only one kind of data has is refused for the others, not passed over.
void check_kind(const CaseConfig& c) {
  const ModelEntry& model = find_model(c.model);
  const DataKind kind = family_of(model).data;
  const auto only_for = [&](bool given, DataKind its_kind, const char* flag) {
    if (given && kind != its_kind)
      refuse(fmt::format("{} learns from {}", model.name, to_string(kind)), flag,
             fmt::format("leave it out, it is for {}", to_string(its_kind)));
  };
  only_for(c.augment.value_or(false), DataKind::images, "--augment");
  only_for(!c.buckets.empty(), DataKind::text, "--buckets");
  only_for(!c.vocabulary_file.empty(), DataKind::text, "--vocab");
  only_for(!c.columns.empty(), DataKind::series, "--columns");
  only_for(!c.targets.empty(), DataKind::series, "--targets");
  only_for(!c.date_column.empty(), DataKind::series, "--date-column");
  only_for(!c.target_base.empty(), DataKind::series, "--target-base");
  only_for(!c.rows.empty(), DataKind::series, "--rows");
}

void check_buckets(const CaseConfig& c) {
  std::int64_t shorter = 0;
  for (const std::int64_t length : c.buckets) {
    check_range(length, 1, kLongestBucket, "--buckets");
    if (length <= shorter) refuse("the lengths do not ascend", "--buckets", "write 32,64,128");
    shorter = length;
  }
  if (!c.buckets.empty() && c.options.sequence != c.buckets.back())
    refuse(fmt::format("a sequence of {} is not the longest bucket, {}", c.options.sequence, c.buckets.back()),
           "--sequence", "leave out one of --sequence and --buckets");
}

void check_length(const CaseConfig& c) {
  check_positive(c.epochs, "--epochs");
  check_positive(c.max_seconds, "--max-seconds");
  if (c.warmup == 0) refuse("the first step never counts, so no warm-up is shorter than 1", "--warmup", "use 1 or more, or leave it out");
  check_range(c.warmup, 1, INT32_MAX, "--warmup");
  if (c.steps) check_range(*c.steps, 1, INT32_MAX, "--steps");
  if (c.max_steps) check_range(*c.max_steps, 1, INT32_MAX, "--max-steps");
  if (c.steps && c.epochs) refuse("--steps and --epochs exclude each other", "--steps", "give one of them");
  const auto shortest = c.steps ? c.steps : c.max_steps;
  if (shortest && c.warmup >= *shortest)
    refuse(fmt::format("a warm-up of {} leaves nothing to measure of {} steps", c.warmup, *shortest),
           c.steps ? "--steps" : "--max-steps", fmt::format("use more than {} steps or a shorter --warmup", c.warmup));
  if (!(c.precision_target > 0 && c.precision_target < 1))
    refuse(fmt::format("{} is not a usable precision", c.precision_target), "--precision-target", "use 0.02 for 2 %");
}

void check_checkpoints(const CaseConfig& c) {
  if (!c.checkpoint_of.empty() && c.checkpoint.empty())
    refuse("checkpoints need a folder", "--checkpoint-of", "add --checkpoint DIR");
  if (!c.checkpoint_every) return;
  check_range(*c.checkpoint_every, 1, INT32_MAX, "--checkpoint-every");
  if (c.checkpoint.empty()) refuse("checkpoints need a folder", "--checkpoint-every", "add --checkpoint DIR");
}

void check_share(double value, const char* flag) {
  if (!(value >= 0 && value < 1)) refuse(fmt::format("{} is not a share", value), flag, "use 0 to below 1");
}

void check_amount(double value, const char* flag) {
  if (!(value >= 0 && std::isfinite(value))) refuse(fmt::format("{} is not possible", value), flag, "use 0 or more");
}

void check_training(const CaseConfig& c) {
  check_positive(c.lr, "--lr");
  if (!(*c.momentum >= 0 && *c.momentum < 1))
    refuse(fmt::format("{} is not a usable momentum", *c.momentum), "--momentum", "use 0 to below 1");
  if (!(*c.weight_decay >= 0 && *c.weight_decay < 1))
    refuse(fmt::format("{} is not a usable weight decay", *c.weight_decay), "--weight-decay", "use 0 to below 1");
  if (!(c.lr_warmup_share >= 0 && c.lr_warmup_share < 1))
    refuse(fmt::format("{} is not a share", c.lr_warmup_share), "--lr-warmup-share", "use 0 to below 1");
  if (c.schedule != "constant" && !c.epochs && !c.steps)
    refuse(fmt::format("a {} schedule needs to know where it ends", c.schedule), "--schedule", "add --epochs or --steps");
  check_share(c.beta1, "--beta1");
  check_share(c.beta2, "--beta2");
  check_amount(c.l1, "--l1");
  check_amount(c.clip_norm, "--clip-norm");
  check_range(c.patience, 0, INT32_MAX, "--patience");
  if (c.patience > 0 && !*c.eval)
    refuse("patience needs evaluations", "--patience", "add --epochs and data with a test set, or --eval on");
  check_range(c.accumulate, 1, kMostMicroBatches, "--accumulate");
  if (*c.batch % c.accumulate != 0)
    refuse(fmt::format("a batch of {} cannot be cut into {} equal micro-batches", *c.batch, c.accumulate), "--accumulate",
           "use a divisor of --batch");
  if (c.target_accuracy && !(*c.target_accuracy > 0 && *c.target_accuracy <= 1))
    refuse(fmt::format("{} is not an accuracy", *c.target_accuracy), "--target-accuracy", "use a share such as 0.9");
  if (c.target_accuracy && c.eval == false)
    refuse("a target accuracy needs evaluations", "--eval", "leave out --eval off or --target-accuracy");
}

// Fits common machines and keeps them busy; small images learn well with 128.
std::int64_t customary_batch(const CaseConfig& c) {
  const ModelEntry& model = find_model(c.model);
  const DataKind kind = family_of(model).data;
  if (kind == DataKind::text) return with_defaults(model, c.options).hidden >= 512 ? 8 : 32;
  if (kind == DataKind::series) return 64;
  const bool small_data = c.data == "fashion-mnist" || c.data == "cifar10";
  const std::int64_t model_size = small_data ? 32 : model.defaults.image_size;
  return (c.options.image_size > 0 ? c.options.image_size : model_size) >= 128 ? 16 : 128;
}

double customary_rate(const CaseConfig& c, DataKind kind) {
  const double job_batch = static_cast<double>(*c.batch) * static_cast<double>(c.parallel.dp);
  if (c.optimizer == "sgd") return std::min(0.1, 0.1 * job_batch / 256);
  if (c.optimizer == "adagrad") return 0.01;
  if (kind != DataKind::text) return 1e-3;
  return with_defaults(find_model(c.model), c.options).hidden >= 512 ? 1e-4 : 5e-4;
}

// The recipe that a family is customarily trained with.
void fill_recipe(CaseConfig& c) {
  const DataKind kind = family_of(find_model(c.model)).data;
  const bool ends = c.epochs || c.steps;
  if (c.optimizer.empty()) c.optimizer = kind == DataKind::images ? "sgd" : kind == DataKind::text ? "adamw" : "adam";
  if (c.schedule.empty()) c.schedule = !ends ? "constant" : kind == DataKind::text ? "linear" : "cosine";
  if (!c.momentum) c.momentum = 0.9;
  if (!c.weight_decay) c.weight_decay = kind == DataKind::images ? 5e-4 : kind == DataKind::text ? 0.01 : 0.0;
  if (!c.lr) c.lr = customary_rate(c, kind);
}

void fill(CaseConfig& c) {
  const bool endless = !c.epochs && !c.steps && !c.max_seconds && !c.max_steps;
  if (c.target_accuracy && endless) c.epochs = 100;
  if (!c.buckets.empty() && c.options.sequence == 0) c.options.sequence = c.buckets.back();
  c.options = derived_options(find_model(c.model), c.options);
  if (!c.batch) c.batch = customary_batch(c);
  fill_parallel(c);
  const bool images = family_of(find_model(c.model)).data == DataKind::images;
  if (!c.augment) c.augment = images && c.epochs.value_or(0) >= kEpochsWorthAugmenting;
  if (c.accumulate > 1) c.tail = "drop";  // a tail cannot be cut evenly
  fill_recipe(c);
  if (!c.eval) c.eval = c.target_accuracy || (c.epochs && c.data != "synthetic");
}

}  // namespace

CaseConfig complete_case(CaseConfig c) {
  check_mode(c);
  resolve_layout(c.parallel);
  if (c.mode == "infer") return complete_inference(std::move(c));
  if (c.model.empty()) refuse("no model was named", "--model", "add --model resnet50, or --suite demo; see gpusizer list models");
  check_model_options(find_model(c.model), c.options);
  check_kind(c);
  fill(c);
  check_buckets(c);
  check_sizes(c);
  check_words(c);
  check_length(c);
  check_training(c);
  check_checkpoints(c);
  check_parallel(c);
  return c;
}

std::string case_id(const CaseConfig& c) {
  const std::string data = c.data.find('/') < c.data.find(':') ? "folder" : c.data.substr(0, c.data.find(':'));
  std::string id = fmt::format("{}/{}/b{}/{}/{}", c.model, data, *c.batch, c.precision, c.device);
  id += parallel_id_words(c.parallel) + id_words(c.options);
  if (!c.buckets.empty()) id += fmt::format("/{}", fmt::join(c.buckets, "-"));
  if (!c.columns.empty()) id += fmt::format("/from:{}", fmt::join(c.columns, "+"));
  if (!c.targets.empty()) id += fmt::format("/to:{}", fmt::join(c.targets, "+"));
  if (!c.target_base.empty()) id += "/from-" + c.target_base;
  if (!c.rows.empty()) id += "/" + c.rows;
  if (c.optimizer != "sgd" && c.optimizer != "adamw" && c.optimizer != "adam") id += "/" + c.optimizer;
  if (c.accumulate > 1) id += fmt::format("/accumulate{}", c.accumulate);
  if (c.threads > 0) id += fmt::format("/t{}", c.threads);
  if (c.mode == "infer") id += "/infer";
  if (c.rate) id += fmt::format("/rate{}", *c.rate);
  if (c.prune > 0) id += fmt::format("/prune{}", c.prune);
  return id + c.sweep_words;
}

}  // namespace gpusizer
