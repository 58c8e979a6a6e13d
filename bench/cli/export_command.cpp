// SPDX-License-Identifier: Apache-2.0
// gpusizer export: reports in the words of other tools.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "bench/cli/command.hpp"
#include "bench/cli/options.hpp"
#include "bench/cli/output.hpp"
#include "bench/cli/report_sets.hpp"
#include "ci/compare/compare.hpp"
#include "ci/export/export.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/report_file.hpp"
#include "reports/render/text.hpp"

namespace gpusizer::cli {
namespace {

std::string export_examples() {
  std::string text =
      "  gpusizer export r.json --format prometheus --out gpusizer.prom\n"
      "  gpusizer export r.json --base runs/main --format junit --out junit.xml\n"
      "  gpusizer export r.json --base runs/main --format summary >> \"$GITHUB_STEP_SUMMARY\"\n"
      "  gpusizer export r.json --format github-action-benchmark --out bench.json   # bench.bigger-is-better.json, ...\n\nFormats:\n";
  for (const ci::ExportFormat& format : ci::export_formats()) text += fmt::format("  {:<24} {}\n", format.name, format.summary);
  return text;
}

std::string with_suffix(const std::string& out, const std::string& suffix) {
  if (suffix.empty()) return out;
  std::filesystem::path path(out);
  const std::string extension = path.extension().string();
  return path.replace_extension(fmt::format(".{}{}", suffix, extension)).string();
}

}  // namespace

int export_command(const Arguments& arguments) {
  Options options("export", "REPORT|FOLDER... --format NAME [flags]", export_examples());
  options.flag("format", "NAME", "one of the formats below");
  options.many("base", "FILE|FOLDER", "of a base, for formats that tell verdicts; may be repeated");
  options.flag("rules", "FILE", "as of gpusizer compare");
  options.flag("out", "FILE", "write it there; formats with several files put a word before the extension");
  options.positional("word", -1);
  if (options.parse(arguments)) return 0;
  if (!options.value("format")) throw Error(Fault::usage, "the flag is needed", "--format", "see gpusizer export --help");
  const ci::ExportFormat& format = ci::export_format_named(*options.value("format"));
  if (options.values("word").empty()) throw Error(Fault::usage, "no report was named", "", "write gpusizer export REPORT.json --format NAME");
  if (format.several_files && !options.value("out"))
    throw Error(Fault::usage, "the format has several files", "--format", fmt::format("add --out NAME{}", format.extension));
  ReportSets sets;
  if (!options.values("base").empty()) sets = read_sets(options.values("word"), options.values("base"), "export");
  else
    for (const std::string& word : options.values("word"))
      for (const std::string& file : files_at(word)) sets.fresh.push_back(record::read_report(file)), sets.files.push_back(file);
  for (const std::string& warning : sets.warnings) std::cerr << "gpusizer: " << render::printable(warning) << "\n";
  refuse_input_as_output(options.value("out"), sets.files);
  ci::ExportInput input{std::move(sets.fresh), std::nullopt};
  if (!options.values("base").empty())
    input.comparison = ci::compare(sets.base, input.reports, options.value("rules") ? ci::read_rules(*options.value("rules")) : ci::built_in_rules());
  for (const ci::ExportFile& file : ci::exported(format, input))
    put_text(file.text, options.value("out") ? std::optional(with_suffix(*options.value("out"), file.suffix)) : std::nullopt);
  return 0;
}

}  // namespace gpusizer::cli
