// SPDX-License-Identifier: Apache-2.0
// gpusizer import: results of other tools and people -> a report whose figures are marked as published.
#include <fmt/format.h>

#include <iostream>

#include "bench/cli/command.hpp"
#include "bench/cli/command_text.hpp"
#include "bench/cli/options.hpp"
#include "bench/cli/output.hpp"
#include "bench/machine/describe.hpp"
#include "gpusizer/error.hpp"
#include "reports/import/csv_table.hpp"
#include "reports/import/foreign.hpp"
#include "reports/record/json.hpp"
#include "reports/record/report_file.hpp"
#include "reports/render/text.hpp"
#include "reports/sizing/goal_text.hpp"

namespace gpusizer::cli {
namespace {

std::string import_help() {
  std::string text =
      "  gpusizer import --from csv table.csv --out published.json\n"
      "  gpusizer import --from mllog result_0.txt --gpu A100-SXM4-80GB --devices 8 --source 'MLPerf v2.1' --out m.json\n"
      "  gpusizer import --from nccl-tests all_reduce.txt --out n.json\n\nFormats:\n";
  for (const import::ForeignFormat& format : import::foreign_formats())
    text += fmt::format("  {:<18}{}\n", format.name, format.description);
  return text;
}

Options import_options() {
  Options options("import", "--from FORMAT FILE [flags]", import_help());
  options.flag("from", "FORMAT", "csv, mllog, nccl-tests, dllogger or google-benchmark");
  options.flag("source", "TEXT", "who published it and when [the file's name]");
  options.flag("model", "NAME", "what was trained, where the file does not say it");
  options.flag("gpu", "NAME", "on which GPU, where the file does not say it");
  options.flag("devices", "N", "GPUs of the job, where the file does not say it");
  options.flag("batch", "B", "samples per GPU and step, where the file does not say it");
  options.flag("precision", "NAME", "where the file does not say it");
  options.flag("out", "FILE", "where the report goes [standard output]");
  options.toggle("json", "print the report even where --out is given");
  options.positional("word", 1);
  return options;
}

import::ForeignNames names_of(const Options& options, const std::string& file) {
  import::ForeignNames names;
  names.origin = file;
  names.source = options.value("source").value_or("");
  names.created_utc = utc_now();
  names.model = options.value("model").value_or(""), names.gpu = options.value("gpu").value_or("");
  names.precision = options.value("precision").value_or("");
  if (const auto text = options.value("devices")) names.devices = sizing::parse_count(*text, "--devices");
  if (const auto text = options.value("batch")) names.batch = sizing::parse_count(*text, "--batch");
  return names;
}

}  // namespace

int import_command(const Arguments& arguments) {
  Options options = import_options();
  if (options.parse(arguments)) return 0;
  const auto files = options.values("word");
  if (files.empty()) throw Error(Fault::usage, "no file was named", "", "write gpusizer import --from csv FILE");
  const auto format = options.value("from");
  if (!format) throw Error(Fault::usage, "the flag is needed", "--from", "add --from csv, or another format of --help");
  refuse_input_as_output(options.value("out"), files);
  record::Report report = import::import_foreign(*format, import::read_text(files[0]), names_of(options, files[0]));
  report.tool = describe_tool();
  report.command_line = command_text("import", arguments);
  if (const auto out = options.value("out")) record::write_report(*out, report);
  if (!options.value("out") || options.has("json")) {
    std::cout << record::to_json(report);
    return 0;
  }
  std::size_t held_out = 0;
  for (const record::Case& one : report.cases) {
    if (one.status == record::CaseStatus::ok) continue;
    if (++held_out <= 5) std::cout << render::printable(fmt::format("held out: {}: {}", one.id, one.reason)) << "\n";
  }
  std::cout << fmt::format("{} published results, {} held out\n", report.cases.size() - held_out, held_out);
  return 0;
}

}  // namespace gpusizer::cli
