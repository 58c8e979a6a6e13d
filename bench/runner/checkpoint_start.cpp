// SPDX-License-Identifier: Apache-2.0
// Looks into the folder of checkpoints before anything is trained.
#include "bench/runner/checkpoint_start.hpp"

#include <fmt/format.h>

#include "bench/runner/fill_config.hpp"
#include "reports/record/fingerprint.hpp"
#include "reports/record/number_text.hpp"
#include "workloads/checkpoint/checkpoint.hpp"

namespace gpusizer {
namespace {

void refuse_earlier_run(const StoredCheckpoint& found) {
  throw Error(Fault::usage, fmt::format("{} is a checkpoint of an earlier run of this case", found.path.string()),
              "--checkpoint", "go on with gpusizer run --resume REPORT, choose another folder, or remove it");
}

[[noreturn]] void refuse_other(const StoredCheckpoint& found, const std::string& what) {
  throw Error(Fault::input, "the checkpoint is " + what, found.path.string(),
              "resume the report that it belongs to, or move it away to begin this case anew");
}

void require_same_case(const StoredCheckpoint& found, const Checkpoint& checkpoint, const std::string& case_id,
                       const std::map<std::string, std::string>& config) {
  if (checkpoint.case_id != case_id)
    refuse_other(found, fmt::format("of the case {}, and this one is {}", checkpoint.case_id, case_id));
  const auto word = [](const std::map<std::string, std::string>& words, const std::string& name) {
    const auto place = words.find(name);
    return place == words.end() ? std::string("nothing") : "'" + place->second + "'";
  };
  for (const auto* words : {&config, &checkpoint.config})
    for (const auto& [name, value] : *words)
      if (word(config, name) != word(checkpoint.config, name))
        refuse_other(found, fmt::format("of another configuration: its {} is {}, and this case's is {}", name,
                                        word(checkpoint.config, name), word(config, name)));
  if (found.step != checkpoint.step)
    refuse_other(found, fmt::format("of step {}, which its name does not say", checkpoint.step));
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
                                             const std::map<std::string, std::string>& config) {
  std::optional<Error> damage;
  for (const StoredCheckpoint& one : found) {
    const auto checkpoint = read_or_note(one.path, damage);
    if (!checkpoint) continue;
    require_same_case(one, *checkpoint, case_id, config);
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
  const CheckpointFolder folder(prepared.config.checkpoint, case_id);
  folder.require_writable();
  const auto found = folder.newest_first();
  if (found.empty()) return std::nullopt;
  if (!resumed) refuse_earlier_run(found.front());
  return newest_intact(found, case_id, checkpoint_config(prepared));
}

}  // namespace gpusizer
