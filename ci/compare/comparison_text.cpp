// SPDX-License-Identifier: Apache-2.0
// A comparison as a table for the terminal.
#include "ci/compare/comparison_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ci/compare/sentences.hpp"
#include "reports/render/text.hpp"
#include "reports/render/units.hpp"

namespace gpusizer::ci {
namespace {

using render::Align;
using render::Cell;
using render::Tone;

Tone tone_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::regressed: case Verdict::failed: return Tone::bad;
    case Verdict::missing: case Verdict::ambiguous: case Verdict::incomparable: return Tone::warning;
    case Verdict::improved: return Tone::good;
    case Verdict::unchanged: return Tone::faint;
    default: return Tone::plain;
  }
}

std::string value_text(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  if (unit == "s" && *value > 0) return render::time_text(*value);
  if (unit == "B" && *value >= 0) return render::bytes_text(*value);
  return unit == "1" ? render::significant(*value) : render::significant(*value) + " " + unit;
}

std::vector<Cell> row_of(const Judgement& j) {
  const std::string name = j.metric + (j.renamed_from.empty() ? "" : " (was " + j.renamed_from + ")") + (j.gated ? "" : " (tracked)");
  return {Cell(std::string(word_of(j.verdict)), tone_of(j.verdict)), j.case_id, name, value_text(j.base_median, j.unit),
          value_text(j.new_median, j.unit), Cell(j.change ? signed_percent(*j.change) : "-", tone_of(j.verdict)),
          j.smallest_visible ? fmt::format("{:.1f} %", 100 * *j.smallest_visible) : "-", fmt::format("{}/{}", j.base_runs, j.new_runs)};
}

render::Table table_of(const Comparison& comparison, bool all) {
  render::Table table{{{"verdict"}, {"case", Align::left, 0, 16}, {"metric", Align::left, 0, 12}, {"base", Align::right},
                       {"new", Align::right}, {"change", Align::right}, {"smallest seen", Align::right, 1}, {"runs", Align::right, 2}}, {}};
  for (const Verdict verdict : all_verdicts)
    for (const Judgement& j : comparison.judgements)
      if (j.verdict == verdict && (all || verdict != Verdict::unchanged)) table.rows.push_back(row_of(j));
  return table;
}

std::string words_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " | ") + word;
  return text.empty() ? "not there" : text;
}

std::string line(const std::string& text, std::size_t width) {
  std::string lines;
  for (const std::string& part : width ? render::wrap_to_width(text, width) : std::vector{text}) lines += part + "\n";
  return lines;
}

std::string counts_text(const Comparison& comparison) {
  std::string text;
  for (const Verdict verdict : all_verdicts)
    if (const std::size_t count = count_of(comparison, verdict))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word_of(verdict));
  return text.empty() ? "no figure at all" : text;
}

// The unchanged are worth a line: what would have been seen.
std::string unchanged_text(const Comparison& comparison) {
  double smallest = 0, largest = 0;
  for (const Judgement& j : comparison.judgements)
    if (j.verdict == Verdict::unchanged && j.smallest_visible) {
      smallest = smallest == 0 ? *j.smallest_visible : std::min(smallest, *j.smallest_visible);
      largest = std::max(largest, *j.smallest_visible);
    }
  if (largest == 0) return "";
  return fmt::format("Of the unchanged a change of {:.1f} % to {:.1f} % would have been seen (--all lists them).", 100 * smallest, 100 * largest);
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const render::Look& look, bool all) {
  const auto say = [&](const std::string& text) { return text.empty() ? "" : line(render::printable(text), look.width); };
  std::string text = say(fmt::format("{} new report{} against {}: {}.", comparison.new_reports, comparison.new_reports == 1 ? "" : "s",
                                     comparison.base_reports, counts_text(comparison)));
  if (!comparison.fleet_shift.empty())
    text += render::toned(line(render::printable(comparison.fleet_shift), 0), Tone::warning, look.colour);
  for (const WordDifference& word : comparison.environment)
    text += say(fmt::format("  environment: {}: {} -> {}", word.name, words_text(word.base), words_text(word.fresh)));
  const render::Table table = table_of(comparison, all);
  if (!table.rows.empty()) text += "\n" + render::layout(table, look) + "\n";
  for (const Verdict verdict : all_verdicts)
    for (const Judgement& j : comparison.judgements)
      if (j.verdict == verdict && verdict != Verdict::unchanged && j.reason != "no_baseline")
        text += say(fmt::format("{} {} {}: {} [{}]", word_of(j.verdict), j.case_id, j.metric, j.sentence, j.reason));
  text += say(unchanged_text(comparison));
  for (const std::string& pattern : comparison.missing_required) text += say("Required and without a value: " + pattern);
  for (const std::string& note : comparison.notes) text += say(note);
  if (comparison.base_reports == 0) text += say("Next: keep these reports as the base; ten of them make a history (gpusizer history add).");
  return text;
}

}  // namespace gpusizer::ci
