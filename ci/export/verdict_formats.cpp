// SPDX-License-Identifier: Apache-2.0
// Formats that tell verdicts: JUnit, the summary of a job, annotations. Without a base every figure is new.
#include <fmt/format.h>

#include "ci/compare/compare.hpp"
#include "ci/compare/sentences.hpp"
#include "ci/export/export.hpp"
#include "reports/render/text.hpp"
#include "reports/render/units.hpp"

namespace gpusizer::ci {
namespace {

constexpr std::size_t kSummaryBytes = 900'000;  // above 1 MiB GitHub shows nothing at all
constexpr std::size_t kAnnotations = 10;        // of one kind and step are shown

Comparison verdicts_of(const ExportInput& input) { return input.comparison ? *input.comparison : compare({}, input.reports, built_in_rules()); }

bool is_skip(Verdict v) {
  return v == Verdict::fresh || v == Verdict::insufficient_data || v == Verdict::incomparable || v == Verdict::ambiguous || v == Verdict::missing;
}

std::string outcome_xml(const Judgement& j) {
  if (j.verdict == Verdict::regressed && j.gated)
    return fmt::format("      <failure message=\"{}\" type=\"PerformanceRegression\">{}</failure>\n", render::markup_text(j.sentence), render::markup_text(j.reason));
  if (j.verdict == Verdict::failed)
    return fmt::format("      <error message=\"{}\" type=\"{}\"/>\n", render::markup_text(j.sentence), render::markup_text(j.reason));
  if (is_skip(j.verdict)) return fmt::format("      <skipped message=\"{}: {}\"/>\n", word_of(j.verdict), render::markup_text(j.sentence));
  return "";
}

std::string shown(const std::optional<double>& value, const std::string& unit) {
  return value ? render::significant(*value).append(unit == "1" ? "" : " ").append(unit == "1" ? "" : unit) : "-";
}

// Tokens go before the escapes, which would hide them from the last look.
std::string in_markdown(const std::string& text) {
  std::string safe;
  for (const char c : without_tokens(text)) {
    if (std::string_view("\\`*_{}[]<>()#+!|~").find(c) != std::string_view::npos) safe += '\\';
    safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return safe;
}

std::string markdown_row(const Judgement& j) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", word_of(j.verdict), in_markdown(j.case_id), in_markdown(j.metric), in_markdown(shown(j.base_median, j.unit)),
                     in_markdown(shown(j.new_median, j.unit)), j.change ? signed_percent(*j.change) : "-", in_markdown(j.sentence));
}

std::string in_command(std::string text, bool property) {
  std::string safe;
  for (const char c : text) {
    if (c == '%') safe += "%25";
    else if (c == '\r') safe += "%0D";
    else if (c == '\n') safe += "%0A";
    else if (property && c == ':') safe += "%3A";
    else if (property && c == ',') safe += "%2C";
    else safe += c;
  }
  return safe;
}

}  // namespace

std::vector<ExportFile> write_junit(const ExportInput& input) {
  const Comparison comparison = verdicts_of(input);
  const std::string hardware = input.reports.empty() || input.reports.front().environment.devices.empty() ? "gpusizer" : input.reports.front().environment.devices.front().name;
  std::size_t skipped = 0;
  for (const Judgement& j : comparison.judgements) skipped += is_skip(j.verdict);
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", comparison.judgements.size(),
                                         count_of(comparison, Verdict::regressed, true), count_of(comparison, Verdict::failed), skipped);
  std::string text = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n  <testsuite name=\"gpusizer\" {} time=\"0\">\n", counts, counts);
  for (const Judgement& j : comparison.judgements)
    text += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n{}      <system-out>{}</system-out>\n    </testcase>\n", render::markup_text(hardware),
                        render::markup_text(j.case_id + " " + j.metric), outcome_xml(j),
                        render::markup_text(fmt::format("{}: base {}, new {}", word_of(j.verdict), shown(j.base_median, j.unit), shown(j.new_median, j.unit))));
  return {{"", text + "  </testsuite>\n</testsuites>\n"}};
}

// What is wrong comes first, so that a summary that is too long loses the unchanged first, and says so.
std::vector<ExportFile> write_job_summary(const ExportInput& input) {
  const Comparison comparison = verdicts_of(input);
  std::string text = fmt::format("## gpusizer: {} regressed, {} improved, {} failed, {} figures in all\n\n", count_of(comparison, Verdict::regressed),
                                 count_of(comparison, Verdict::improved), count_of(comparison, Verdict::failed), comparison.judgements.size());
  if (!comparison.fleet_shift.empty()) text += in_markdown(comparison.fleet_shift) + "\n\n";
  text += "| verdict | case | metric | base | new | change | why |\n| --- | --- | --- | ---: | ---: | ---: | --- |\n";
  std::size_t left_out = 0;
  for (const Verdict verdict : all_verdicts)
    for (const Judgement& j : comparison.judgements) {
      if (j.verdict != verdict) continue;
      const std::string row = markdown_row(j);
      if (left_out == 0 && text.size() + row.size() + 200 < kSummaryBytes) text += row;
      else ++left_out;
    }
  if (left_out) text += fmt::format("\n{} more figures were left out: the summary of a job has a limit. They are in the report.\n", left_out);
  return {{"", text}};
}

std::vector<ExportFile> write_github_annotations(const ExportInput& input) {
  const Comparison comparison = verdicts_of(input);
  std::vector<std::string> lines;
  for (const Verdict verdict : {Verdict::failed, Verdict::regressed, Verdict::missing, Verdict::ambiguous})
    for (const Judgement& j : comparison.judgements)
      if (j.verdict == verdict && (j.gated || verdict == Verdict::failed))
        lines.push_back(fmt::format("::{} title={}::{}\n", verdict == Verdict::failed || verdict == Verdict::regressed ? "error" : "warning",
                                    in_command(fmt::format("{} {} {}", word_of(verdict), j.case_id, j.metric), true), in_command(j.sentence, false)));
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < (lines.size() > kAnnotations ? kAnnotations - 1 : kAnnotations); ++i) text += lines[i];
  if (lines.size() > kAnnotations) text += fmt::format("::warning title=gpusizer::and {} more, see the summary of the job\n", lines.size() - kAnnotations + 1);
  return {{"", text}};
}

}  // namespace gpusizer::ci
