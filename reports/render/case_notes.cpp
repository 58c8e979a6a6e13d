// SPDX-License-Identifier: Apache-2.0
// One case in sentences.
#include "reports/render/case_notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/render/scaling_table.hpp"
#include "reports/render/units.hpp"

namespace gpusizer::render {
namespace {

using record::Case;

void add_troubles(std::vector<Note>& notes, const Case& run) {
  if (run.status != record::CaseStatus::ok)
    notes.push_back({fmt::format("{}: {}", record::to_word(run.status), run.reason), tone_of(run.status)});
  else if (!run.throughput.value && !run.inference)
    notes.push_back({fmt::format("no throughput: {}", run.throughput.null_reason), Tone::warning});
  for (const auto& flag : run.validity_flags)
    notes.push_back({fmt::format("{}{} [{}]", flag.blocks_advice ? "not for advice: " : "", flag.sentence, flag.id),
                     flag.blocks_advice ? Tone::bad : Tone::warning});
}

// "mlm_accuracy 0.4512, mlm_loss 3.1"
std::string numbers_text(const record::Numbers& numbers) {
  std::string text;
  for (const auto& [name, number] : numbers)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, number ? significant(*number) : "not finite");
  return text;
}

// Guesses are named after what they are compared with, an error of the model: "season_mae" beside its "mae".
bool is_compared(const std::string& guess, const std::string& output) {
  return guess.ends_with("_" + output) || (guess == "unigram_entropy_nats" && output == "mlm_loss");
}

void add_better_guesses(std::vector<Note>& notes, const record::Training& training) {
  if (training.evaluations.empty()) return;
  for (const auto& [output, reached] : training.evaluations.back().outputs)
    for (const auto& [guess, guessed] : training.baselines)
      if (reached && guessed && is_compared(guess, output) && *guessed < *reached)
        notes.push_back({fmt::format("the model is no better than a guess yet: {} {}, and {} {}", output,
                                     significant(*reached), guess, significant(*guessed)), Tone::warning});
}

void add_learning(std::vector<Note>& notes, const Case& run) {
  const record::Training& training = run.training;
  if (training.time_to_target_seconds && run.config.target_accuracy)
    notes.push_back({fmt::format("accuracy {} was reached after {}", percent_text(*run.config.target_accuracy),
                                 time_text(*training.time_to_target_seconds))});
  if (!training.evaluations.empty() && !training.evaluations.back().outputs.empty())
    notes.push_back({fmt::format("on the test data: {}", numbers_text(training.evaluations.back().outputs))});
  if (!training.baselines.empty())
    notes.push_back({fmt::format("guesses without a model reach: {}", numbers_text(training.baselines))});
  add_better_guesses(notes, training);
}

void add_tokens(std::vector<Note>& notes, const Case& run) {
  if (!run.measurement.tokens) return;
  const record::Tokens& tokens = *run.measurement.tokens;
  const auto real = static_cast<double>(tokens.real_tokens), padded = static_cast<double>(tokens.padded_tokens);
  if (!(real + padded > 0)) return;
  const std::string rate = tokens.tokens_per_second ? fmt::format("{} tokens/s; ", significant(*tokens.tokens_per_second)) : "";
  notes.push_back({fmt::format("{}{} of the work was padding", rate,
                               padded > 0 ? percent_text(padded / (real + padded)) : "nothing")});
}

void add_checkpoints(std::vector<Note>& notes, const Case& run) {
  if (!run.checkpoints || !run.checkpoints->bytes || !run.checkpoints->mean_seconds) return;
  notes.push_back({fmt::format("{} checkpoint{} of {}, {} each, outside of the step times", run.checkpoints->count,
                               run.checkpoints->count == 1 ? "" : "s",
                               bytes_text(static_cast<double>(*run.checkpoints->bytes)),
                               time_text(*run.checkpoints->mean_seconds))});
}

std::string waiting_text(const Case& run) {
  const record::Communication& c = *run.communication;
  std::string text = run.phases.communicate_seconds
                         ? fmt::format("communication takes {} of a step, ", time_text(*run.phases.communicate_seconds))
                         : "";
  text += fmt::format("ranks wait {} for it", time_text(*c.exposed_seconds));
  if (c.worst_exposed_seconds) text += fmt::format(", one of them {}", time_text(*c.worst_exposed_seconds));
  if (c.modelled_exposed_seconds) text += fmt::format("; the cost model says {}", time_text(*c.modelled_exposed_seconds));
  return text;
}

std::string sums_text(const Case& run) {
  std::string text;
  for (const record::AllReduceTime& one : run.communication->all_reduces) {
    if (!one.seconds) continue;
    text += fmt::format("{} {} in {}", text.empty() ? "" : ",", bytes_text(static_cast<double>(one.bytes)),
                        time_text(*one.seconds));
    if (one.bus_bytes_per_second) text += fmt::format(" ({}/s)", bytes_text(*one.bus_bytes_per_second));
  }
  return text;
}

void add_ranks(std::vector<Note>& notes, const Case& run) {
  if (!run.communication) return;
  const record::Communication& c = *run.communication;
  if (c.exposed_seconds) notes.push_back({waiting_text(run)});
  if (const std::string sums = sums_text(run); !sums.empty()) notes.push_back({"all-reduces by themselves:" + sums});
  const auto [fastest, slowest] = std::ranges::minmax_element(c.rank_step_seconds);
  if (c.rank_step_seconds.size() > 1)
    notes.push_back({fmt::format("rank {} is the slowest: its steps take {} without waiting, the fastest rank's {}",
                                 slowest - c.rank_step_seconds.begin(), time_text(*slowest), time_text(*fastest))});
  if (run.scaling && !run.scaling->null_reason.empty())
    notes.push_back({fmt::format("against {}: {}", run.scaling->baseline_case, run.scaling->null_reason), Tone::warning});
}

}  // namespace

Tone tone_of(record::CaseStatus status) {
  switch (status) {
    case record::CaseStatus::ok: return Tone::good;
    case record::CaseStatus::skipped:
    case record::CaseStatus::interrupted: return Tone::warning;
    default: return Tone::bad;
  }
}

std::vector<Note> notes_of(const Case& run) {
  std::vector<Note> notes;
  add_troubles(notes, run);
  add_tokens(notes, run);
  add_learning(notes, run);
  add_ranks(notes, run);
  add_checkpoints(notes, run);
  return notes;
}

}  // namespace gpusizer::render
