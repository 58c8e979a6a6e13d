// SPDX-License-Identifier: Apache-2.0
// Looks into the folder of checkpoints before anything is trained.
#include "bench/runner/checkpoint_start.hpp"

#include <fmt/format.h>

#include <charconv>

#include "bench/runner/fill_config.hpp"
#include "reports/record/fingerprint.hpp"
#include "reports/record/number_text.hpp"
#include "workloads/checkpoint/checkpoint.hpp"

namespace gpusizer {
namespace {

using Words = std::map<std::string, std::string>;

void refuse_earlier_run(const StoredCheckpoint& found) {
  throw Error(Fault::usage, fmt::format("{} is a checkpoint of an earlier run of this case", found.path.string()),
              "--checkpoint", "go on with gpusizer run --resume REPORT, choose another folder, or remove it");
}

[[noreturn]] void refuse_other(const StoredCheckpoint& found, const std::string& what) {
  throw Error(Fault::input, "the checkpoint is " + what, found.path.string(),
              "resume the report that it belongs to, or move it away to begin this case anew");
}

void require_same_case(const StoredCheckpoint& found, const Checkpoint& checkpoint, const std::string& case_id,
                       const Words& config, const Words& its_config) {
  if (checkpoint.case_id != case_id)
    refuse_other(found, fmt::format("of the case {}, and this one is {}", checkpoint.case_id, case_id));
  const auto word = [](const Words& words, const std::string& name) {
    const auto place = words.find(name);
    return place == words.end() ? std::string("nothing") : "'" + place->second + "'";
  };
  for (const auto* words : {&config, &its_config})
    for (const auto& [name, value] : *words)
      if (word(config, name) != word(its_config, name))
        refuse_other(found, fmt::format("of another configuration: its {} is {}, and this case's is {}", name,
                                        word(its_config, name), word(config, name)));
  if (found.step != checkpoint.step)
    refuse_other(found, fmt::format("of step {}, which its name does not say", checkpoint.step));
}

// The same job in another layout has the same words but for these; of the batch it has that of all replicas.
Words without_layout(Words words) {
  const auto number = [&](const char* name) {  // the words may come from a damaged file
    double value = 0;
    std::from_chars(words[name].data(), words[name].data() + words[name].size(), value);
    return value;
  };
  words["job_batch"] = record::shortest_text(number("batch_per_replica") * number("replicas"));
  for (const char* name : {"batch_per_replica", "replicas", "devices", "threads", "threads_per_rank", "layout", "transport",
                           "stages", "pipeline_schedule", "sharded_optimizer", "recompute", "wire_latency_seconds",
                           "wire_bytes_per_second"})
    words.erase(name);
  if (words.contains("parallel_mode") && words["parallel_mode"] == "sync") words.erase("parallel_mode");
  return words;
}

// Keeps the first damage that it met.
std::optional<Checkpoint> read_or_note(const std::filesystem::path& path, std::optional<Error>& damage) {
  try {
    return read_checkpoint(path);
  } catch (const Error& error) {
    if (error.fault() != Fault::input) throw;
    if (!damage) damage = error;
    return std::nullopt;
  }
}

std::optional<CheckpointStart> newest_intact(const std::vector<StoredCheckpoint>& found, const std::string& case_id,
                                             const Words& config, bool any_layout) {
  std::optional<Error> damage;
  for (const StoredCheckpoint& one : found) {
    const auto checkpoint = read_or_note(one.path, damage);
    if (!checkpoint) continue;
    const auto words = [&](const Words& all) { return any_layout ? without_layout(all) : all; };
    require_same_case(one, *checkpoint, case_id, words(config), words(checkpoint->config));
    return CheckpointStart{one, damage ? damage->what() : ""};
  }
  if (damage) throw *damage;
  return std::nullopt;
}

}  // namespace

std::map<std::string, std::string> checkpoint_config(const PreparedCase& prepared) {
  record::Case record;
  record.config = requested_config(prepared.config);
  fill_prepared(record, prepared);
  auto words = record::make_fingerprint(record.config, {}, {}).identity;
  const LearningRate& rate = prepared.loop.learning_rate;
  const CaseConfig& c = prepared.config;
  words["micro_batches"] = std::to_string(c.accumulate);
  for (const auto& [name, number] :
       {std::pair{"clip_norm", c.clip_norm}, {"l1", c.l1}, {"beta1", c.beta1}, {"beta2", c.beta2}})
    words[name] = record::shortest_text(number);
  words["dataset_samples"] = std::to_string(prepared.train_data->size());
  words["seed"] = std::to_string(prepared.config.seed);
  words["steps_per_epoch"] = std::to_string(prepared.loop.steps_per_epoch);
  if (rate.total_steps > 0) words["learning_rate_steps"] = std::to_string(rate.total_steps);
  if (rate.warmup_steps > 0) words["learning_rate_warmup_steps"] = std::to_string(rate.warmup_steps);
  return words;
}

std::optional<CheckpointStart> checkpoint_start(const PreparedCase& prepared, const std::string& case_id,
                                                bool resumed) {
  const std::string& id = checkpoint_id(prepared.config, case_id);
  const CheckpointFolder folder(prepared.config.checkpoint, id);
  folder.require_writable();
  const auto found = folder.newest_first();
  if (found.empty()) return std::nullopt;
  if (!resumed) refuse_earlier_run(found.front());
  return newest_intact(found, id, checkpoint_config(prepared), id != case_id);
}

}  // namespace gpusizer
