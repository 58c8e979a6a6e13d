// SPDX-License-Identifier: Apache-2.0
// gpusizer report: report files as text for people.
#include <fmt/format.h>

#include "bench/cli/command.hpp"
#include "bench/cli/options.hpp"
#include "bench/cli/output.hpp"
#include "bench/cli/terminal.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/json.hpp"
#include "reports/record/report_file.hpp"
#include "reports/render/formats.hpp"

namespace gpusizer::cli {
namespace {

constexpr const char* kReportExamples =
    "  gpusizer report demo.json\n"
    "  gpusizer report demo.json --json | jq '.cases[].scaling'\n"
    "  gpusizer report monday.json tuesday.json --format markdown --out both.md\n";

std::string known_formats() {
  std::string text;
  for (const render::Format& format : render::formats()) text += fmt::format("{}{}", text.empty() ? "" : "|", format.name);
  return text;
}

std::vector<render::NamedReport> named_reports(const Options& options) {
  const auto names = options.values("word");
  if (names.empty()) throw Error(Fault::usage, "no report was named", "", "write gpusizer report REPORT.json ...");
  std::vector<render::NamedReport> reports;
  for (const std::string& name : names) reports.push_back({name, record::read_report(name)});
  return reports;
}

// One report as it is, several as a list.
std::string reports_json(const std::vector<render::NamedReport>& reports) {
  if (reports.size() == 1) return record::to_json(reports.front().report);
  std::string text;
  for (const render::NamedReport& named : reports) text += (text.empty() ? "[\n" : ",\n") + record::to_json(named.report);
  return text + "]\n";
}

}  // namespace

int report_command(const Arguments& arguments) {
  Options options("report", "REPORT... [flags]", kReportExamples);
  options.flag("format", known_formats(), "of the text [terminal]");
  options.toggle("json", "the report itself, checked; several reports as a list");
  options.flag("out", "FILE", "write it there instead of to standard output");
  options.positional("word", -1);
  if (options.parse(arguments)) return 0;
  refuse_input_as_output(options.value("out"), options.values("word"));
  if (options.has("json")) {
    if (options.has("format")) throw Error(Fault::usage, "--json is a format of its own", "--format", "leave out one of them");
    put_text(reports_json(named_reports(options)), options.value("out"));
    return 0;
  }
  const render::Format& format = render::format_named(options.value("format").value_or("terminal"));
  const render::Look look = options.value("out") ? render::Look{} : look_of_stdout();
  put_text(format.render(named_reports(options), look), options.value("out"));
  return 0;
}

}  // namespace gpusizer::cli
