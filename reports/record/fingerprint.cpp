// SPDX-License-Identifier: Apache-2.0
// Which words of a case and its machine go into which part of the fingerprint.
#include "reports/record/fingerprint.hpp"

#include <type_traits>

#include "reports/record/number_text.hpp"
#include "reports/record/sha256.hpp"

namespace gpusizer::record {
namespace {

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\' || c == '=') safe += '\\';
    if (c == '\n') safe += "\\n";
    else safe += c;
  }
  return safe;
}

// A path says where a data set lies on one machine, not what is in it.
bool is_place(const std::string& option) { return option == "path" || option.ends_with("_path"); }

void put(StringMap& words, const std::string& name, const std::string& word) {
  if (!word.empty()) words[name] = word;
}

template <class T>
void put_number(StringMap& words, const std::string& name, const Maybe<T>& number) {
  if (!number) return;
  if constexpr (std::is_integral_v<T>) {
    words[name] = std::to_string(*number);
  } else {
    words[name] = shortest_text(*number);
  }
}

void put_positive(StringMap& words, const std::string& name, std::int64_t number) {
  if (number > 0) words[name] = std::to_string(number);
}

void put_if(StringMap& words, const std::string& name, bool holds) {
  if (holds) words[name] = "yes";
}

std::string stages_text(const std::vector<std::int64_t>& stages) {
  std::string text;
  for (const std::int64_t blocks : stages) text += (text.empty() ? "" : "-") + std::to_string(blocks);
  return text;
}

// What departs from one rank that keeps everything: such a case keeps the identity that it always had.
void add_layout_words(StringMap& words, const Parallel& p) {
  words["layout"] = "dp" + std::to_string(p.dp) + "pp" + std::to_string(p.pp) + "tp" + std::to_string(p.tp);
  put(words, "transport", p.transport);
  put(words, "stages", stages_text(p.stages));
  put(words, "pipeline_schedule", p.schedule);
  put(words, "parallel_mode", p.mode);
  put_positive(words, "micro_batches", p.micro_batches);
  put_positive(words, "norm_group", p.norm_group);
  put_positive(words, "local_sgd_period", p.period);
  if (p.mode == "async") words["staleness"] = std::to_string(p.staleness);
  put_if(words, "sharded_optimizer", p.sharded_optimizer);
  put_if(words, "recompute", p.recompute);
  put_if(words, "sync_batch_norm", p.sync_batch_norm);
  put_number(words, "threads_per_rank", p.threads_per_rank);
  if (!p.wire) return;
  words["wire_latency_seconds"] = shortest_text(p.wire->latency_seconds);
  words["wire_bytes_per_second"] = shortest_text(p.wire->bytes_per_second);
}

StringMap workload_words(const Config& config) {
  StringMap words;
  put(words, "model", config.model);
  for (const auto& [name, value] : config.model_options) put(words, "model." + name, value);
  put(words, "data", config.data);
  for (const auto& [name, value] : config.data_options)
    if (!is_place(name)) put(words, "data." + name, value);
  put(words, "precision", config.precision);
  words["batch_per_replica"] = std::to_string(config.batch_per_replica);
  words["devices"] = std::to_string(config.devices);
  words["replicas"] = std::to_string(config.replicas);
  put_number(words, "threads", config.threads);
  put(words, "optimizer", config.optimizer);
  put(words, "learning_rate_schedule", config.learning_rate_schedule);
  put_number(words, "learning_rate", config.learning_rate);
  put_number(words, "momentum", config.momentum);
  put_number(words, "weight_decay", config.weight_decay);
  if (config.parallel) add_layout_words(words, *config.parallel);
  if (config.inference) {
    words["mode"] = "infer";
    words["arrivals"] = config.inference->arrivals;
    words["pruned_share"] = shortest_text(config.inference->pruned_share);
    put_number(words, "offered_requests_per_second", config.inference->offered_requests_per_second);
  }
  return words;
}

void add_hardware_words(StringMap& words, const Config& config, const Environment& environment) {
  put(words, "device_kind", config.device_kind);
  put(words, "device", config.device);
  put(words, "cpu_model", environment.cpu_model);
  put_number(words, "cpu_threads", environment.cpu_threads);
  if (!environment.instance) return;
  put(words, "cloud", environment.instance->cloud);
  put(words, "instance", environment.instance->type);
}

StringMap environment_words(const Environment& environment, const Tool& tool) {
  StringMap words;
  put(words, "os", environment.os);
  put(words, "kernel", environment.kernel);
  for (const auto& [name, version] : environment.libraries) put(words, "library." + name, version);
  for (const auto& [name, value] : environment.variables) put(words, "variable." + name, value);
  for (const auto& flag : environment.cpu_flags) words["cpu_flag." + flag] = "yes";
  put(words, "compiler", tool.compiler);
  put(words, "build_type", tool.build_type);
  return words;
}

}  // namespace

Fingerprint make_fingerprint(const Config& config, const Environment& environment, const Tool& tool,
                             StringMap state) {
  Fingerprint fingerprint;
  fingerprint.identity = workload_words(config);
  add_hardware_words(fingerprint.identity, config, environment);
  fingerprint.environment = environment_words(environment, tool);
  fingerprint.state = std::move(state);
  fingerprint.identity_hash = hash_of(fingerprint.identity);
  fingerprint.environment_hash = hash_of(fingerprint.environment);
  return fingerprint;
}

std::string hash_of(const StringMap& words) {
  std::string text;
  for (const auto& [name, word] : words) text += escaped(name) + "=" + escaped(word) + "\n";
  return sha256(text).substr(0, 16);
}

}  // namespace gpusizer::record
