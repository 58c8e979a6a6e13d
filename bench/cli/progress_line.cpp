// SPDX-License-Identifier: Apache-2.0
// Formats progress; at most five times a second, so that a run of short steps does not feel it.
#include "bench/cli/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/cli/terminal.hpp"
#include "reports/render/report_view.hpp"
#include "reports/render/text.hpp"
#include "reports/render/units.hpp"

namespace gpusizer::cli {
namespace {

constexpr double kSecondsBetween = 0.2;

std::string how_far(const LoopPlan& plan, const LoopResult& result) {
  const auto steps = result.steps.size();
  std::string text = plan.total_steps ? fmt::format("step {}/{}", steps, *plan.total_steps) : fmt::format("step {}", steps);
  text += plan.max_seconds ? fmt::format(", {:.0f}/{:.0f} s", result.training_seconds, *plan.max_seconds)
                           : fmt::format(", {:.0f} s", result.training_seconds);
  return text;
}

double recent_rate(const LoopResult& result) {
  std::int64_t samples = 0;
  double seconds = 0;
  for (auto step = result.steps.rbegin(); step != result.steps.rend() && seconds < 2.0; ++step) {
    samples += step->samples;
    seconds += step->seconds;
  }
  return seconds > 0 ? static_cast<double>(samples) / seconds : 0;
}

std::string test_text(const Evaluation& evaluation) {
  return evaluation.accuracy ? fmt::format(", test accuracy {:.3f}", *evaluation.accuracy)
                             : fmt::format(", test loss {:.3f}", evaluation.loss);
}

std::string inference_summary(const record::Case& record) {
  std::string text;
  for (const record::InferenceRun& run : record.inference->runs) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", run.name);
    if (run.samples_per_second) text += fmt::format(" {:.4g} {}", *run.samples_per_second, record.throughput.unit);
    if (run.p50_seconds) text += fmt::format(", p50 {}", render::time_text(*run.p50_seconds));
    if (run.p99_seconds) text += fmt::format(", p99 {}", render::time_text(*run.p99_seconds));
    if (run.accuracy) text += fmt::format(", accuracy {:.4f}", *run.accuracy);
    else if (run.loss) text += fmt::format(", loss {:.4f}", *run.loss);
  }
  return text;
}

}  // namespace

RunProgress ProgressLine::callbacks() {
  if (quiet_) return {};
  RunProgress progress;
  progress.case_begins = [this](std::size_t i, std::size_t n, const std::string& id) { begin(i, n, id); };
  progress.case_ended = [this](const record::Case& record) { end(record); };
  if (terminal_) progress.within.step = [this](const LoopPlan& plan, const LoopResult& result) { step(plan, result); };
  return progress;
}

void ProgressLine::begin(std::size_t index, std::size_t count, const std::string& id) {
  head_ = fmt::format("[{}/{}] {}", index + 1, count, render::printable(id));
  if (terminal_) rewrite(head_ + "  getting ready");
}

void ProgressLine::step(const LoopPlan& plan, const LoopResult& result) {
  const double now = clock_.seconds();
  if (now - last_ < kSecondsBetween) return;
  last_ = now;
  std::string line = fmt::format("{}  {}, {:.4g} /s", head_, how_far(plan, result), recent_rate(result));
  if (!result.losses.empty()) line += fmt::format(", loss {:.3f}", result.losses.back());
  if (!result.evaluations.empty()) line += test_text(result.evaluations.back().evaluation);
  rewrite(line);
}

void ProgressLine::end(const record::Case& record) {
  const std::string line = fmt::format("{}  {}", head_, render::printable(summary_of(record)));
  if (terminal_) rewrite("");
  std::fprintf(stream_, "%s%s\n", terminal_ ? "\r" : "", line.c_str());
  std::fflush(stream_);
}

void ProgressLine::rewrite(const std::string& line) {
  const std::size_t width = std::max<std::size_t>(width_of_stderr(), 2) - 1;
  std::fprintf(stream_, "\r\033[K%s", render::cut_to_width(line, width).c_str());
  std::fflush(stream_);
}

// The mean of usual steps may be known well while a few stalls leave the throughput uncertain.
std::string why_it_stopped(const record::Measurement& m) {
  const bool less_precise = m.half_width_relative && m.target_half_width_relative &&
                            *m.half_width_relative > *m.target_half_width_relative;
  return m.stop_reason == "precision_reached" && less_precise ? "precision_reached apart from stalls" : m.stop_reason;
}

std::string summary_of(const record::Case& record) {
  if (record.status != record::CaseStatus::ok) return fmt::format("{}: {}", record::to_word(record.status), record.reason);
  if (record.inference && !record.inference->runs.empty()) return inference_summary(record);
  const auto& m = record.measurement;
  std::string text = render::throughput_text(record.throughput, render::unit_text(record.throughput));
  const auto& training = record.training;
  if (training.accuracy)
    text += fmt::format(", test accuracy {:.4f}", *training.accuracy);
  else if (!training.evaluations.empty() && training.evaluations.back().loss)
    text += fmt::format(", test loss {:.4f}", *training.evaluations.back().loss);
  return text + fmt::format(", {} steps measured ({})", m.measured_steps, why_it_stopped(m));
}

}  // namespace gpusizer::cli
