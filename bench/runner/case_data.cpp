// SPDX-License-Identifier: Apache-2.0
// What the data has decides, then what was asked for, then the model's own defaults.
#include "bench/runner/case_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/run_config/family.hpp"
#include "workloads/data/data_sources.hpp"

namespace gpusizer {
namespace {

// Made-up samples take the model's own shape; real ones keep theirs unless a flag says otherwise.
DataOptions data_options(const CaseConfig& config, const ModelEntry& model, Split split) {
  ModelOptions wanted = config.options;
  if (config.data == "synthetic") wanted = with_defaults(model, wanted);
  if (wanted.head.empty()) wanted.head = model.defaults.head;
  return {.split = split,
          .wanted = {wanted.channels, wanted.image_size, wanted.image_size},
          .classes = wanted.classes,
          .seed = config.seed,
          .synthetic_samples = config.synthetic_samples,
          .kind = family_of(model).data,
          .text = {.sequence = wanted.sequence, .predictions = wanted.predictions, .buckets = config.buckets,
                   .vocabulary_file = config.vocabulary_file, .vocabulary = wanted.vocabulary, .head = wanted.head},
          .series = {.window = wanted.window, .horizon = wanted.horizon, .columns = config.columns,
                     .targets = config.targets, .features = wanted.features, .date_column = config.date_column,
                     .target_base = config.target_base, .rows = config.rows}};
}

// The model's outputs may be more than the data needs, never fewer.
std::int64_t at_least(std::int64_t wanted, std::int64_t needed, const char* flag, const std::string& source) {
  if (wanted == 0 || needed == 0) return std::max(wanted, needed);
  if (wanted < needed)
    throw Error(Fault::usage, fmt::format("{} are fewer than the {} of {}", wanted, needed, source), flag,
                fmt::format("use at least {}", needed));
  return wanted;
}

// What the data has is what the model takes; a wish that the source did not follow is refused.
void take(std::int64_t& option, std::int64_t fact, const char* flag, const SourceFacts& facts) {
  if (option > 0 && fact > 0 && option != fact)
    throw Error(Fault::usage, fmt::format("{} was asked for, and {} has {}", option, facts.name, fact), flag,
                "leave it out");
  if (fact > 0) option = fact;
}

ModelOptions fitted_options(const ModelEntry& model, ModelOptions options, const SourceFacts& facts) {
  options.classes = at_least(options.classes, facts.classes, "--classes", facts.name);
  options.vocabulary = at_least(options.vocabulary, facts.vocabulary, "--vocabulary", facts.name);
  take(options.image_size, facts.shape.height, "--image-size", facts);
  take(options.channels, facts.shape.channels, "--channels", facts);
  take(options.sequence, facts.sequence, "--sequence", facts);
  take(options.predictions, facts.predictions, "--predictions", facts);
  take(options.window, facts.window, "--window", facts);
  take(options.horizon, facts.horizon, "--horizon", facts);
  take(options.features, facts.features, "--features", facts);
  return with_defaults(model, options);
}

}  // namespace

void open_case_data(PreparedCase& p) {
  p.train_data = open_data_source(p.config.data, data_options(p.config, *p.model, Split::train));
  if (*p.config.eval) p.test_data = open_data_source(p.config.data, data_options(p.config, *p.model, Split::test));
  const SourceFacts& facts = p.train_data->facts();
  if (facts.shape.height != facts.shape.width)
    throw Error(Fault::usage, fmt::format("images of {} are not square", facts.shape.text()), "--data",
                "give --image-size");
  p.model_options = fitted_options(*p.model, p.config.options, facts);
  if (whole_batch(p.config) > p.train_data->size())
    throw Error(Fault::usage, fmt::format("a batch of {} is larger than the {} samples of {}", whole_batch(p.config),
                                          facts.size, facts.name), "--batch",
                fmt::format("use at most {}", facts.size / p.config.parallel.dp));
}

ModelOptions bucket_options(const PreparedCase& p, std::int64_t bucket) {
  ModelOptions options = p.model_options;
  const auto& lengths = p.train_data->facts().bucket_lengths;
  if (!lengths.empty()) options.sequence = lengths.at(static_cast<std::size_t>(bucket));
  for (const Field& field : p.train_data->fields(bucket))
    if (field.name == "mlm_positions") options.predictions = field.values();
  return options;
}

}  // namespace gpusizer
