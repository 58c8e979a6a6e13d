// SPDX-License-Identifier: Apache-2.0
// gpusizer advise: reports and a goal -> what each instance would take and cost.
#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "bench/cli/command.hpp"
#include "bench/cli/options.hpp"
#include "bench/cli/output.hpp"
#include "bench/cli/terminal.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/report_file.hpp"
#include "reports/render/advice.hpp"
#include "reports/sizing/advise.hpp"
#include "reports/sizing/goal_text.hpp"

namespace gpusizer::cli {
namespace {

constexpr const char* kAdviseExamples =
    "  gpusizer advise demo.json --dataset-samples 60000 --epochs 20 --as c7i.xlarge\n"
    "  gpusizer advise r1.json r2.json --dataset-samples 1281167 --epochs 90 --deadline 24h --budget 500usd\n"
    "  gpusizer advise r.json --dataset-samples 60000 --epochs 5 --price c7i.xlarge=0.15 --format markdown --out a.md\n";

Options advise_options() {
  Options options("advise", "REPORT... --dataset-samples N --epochs E [flags]", kAdviseExamples);
  options.flag("dataset-samples", "N", "training samples in an epoch");
  options.flag("epochs", "E", "epochs to train");
  options.flag("deadline", "TIME", "must be done within, as 90m, 24h or 2d");
  options.flag("budget", "USD", "must not cost more, as 100usd");
  options.flag("as", "INSTANCE", "the reports were measured on such an instance: [CLOUD:]NAME[@REGION]");
  options.many("price", "NAME=USD", "dollars per hour of an instance, instead of the catalogue's; may be repeated");
  options.toggle("spot", "offer spot prices too");
  options.flag("catalog", "PATH", "a file or folder that replaces a part of the built-in catalogue");
  options.flag("format", "terminal|markdown|json", "of the answer [terminal]");
  options.toggle("json", "the same as --format json");
  options.flag("out", "FILE", "write the answer there instead of to standard output");
  options.positional("word", -1);
  return options;
}

std::string needed(const Options& options, const std::string& name, const char* example) {
  if (const auto text = options.value(name)) return *text;
  throw Error(Fault::usage, "the flag is needed", "--" + name, fmt::format("add --{} {}", name, example));
}

sizing::Goal goal_of(const Options& options) {
  sizing::Goal goal;
  goal.dataset_samples = sizing::parse_count(needed(options, "dataset-samples", "60000"), "--dataset-samples");
  goal.epochs = sizing::parse_count(needed(options, "epochs", "20"), "--epochs");
  if (const auto text = options.value("deadline")) goal.deadline_seconds = sizing::parse_duration_seconds(*text, "--deadline");
  if (const auto text = options.value("budget")) goal.budget_usd = sizing::parse_money_usd(*text, "--budget");
  for (const std::string& text : options.values("price")) goal.prices.push_back(sizing::parse_price_override(text, "--price"));
  goal.include_spot = options.has("spot");
  goal.now = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return goal;
}

std::vector<sizing::ReportInput> reports_of(const Options& options) {
  const auto names = options.values("word");
  if (names.empty()) throw Error(Fault::usage, "no report was named", "", "write gpusizer advise REPORT.json ...");
  std::vector<sizing::ReportInput> reports;
  for (const std::string& name : names)
    reports.push_back({name, record::read_report(name), options.value("as").value_or("")});
  return reports;
}

std::string rendered(const sizing::Advice& advice, const Options& options) {
  const std::string format = options.has("json") ? "json" : options.value("format").value_or("terminal");
  if (format == "json") return render::advice_json(advice);
  if (format == "markdown") return render::advice_markdown(advice);
  if (format == "terminal")
    return render::advice_terminal(advice, options.value("out") ? render::Look{} : look_of_stdout());
  throw Error(Fault::usage, fmt::format("there is no format '{}'", format), "--format", "use terminal, markdown or json");
}

}  // namespace

int advise_command(const Arguments& arguments) {
  Options options = advise_options();
  if (options.parse(arguments)) return 0;
  auto inputs = options.values("word");
  inputs.push_back(options.value("catalog").value_or(""));
  refuse_input_as_output(options.value("out"), inputs);
  const auto reports = reports_of(options);  // a file that is missing is said before a flag that is
  const sizing::Goal goal = goal_of(options);
  const auto catalog_path = options.value("catalog");
  const auto catalog = catalog_path ? cloud::load_catalog(*catalog_path) : cloud::load_catalog();
  const sizing::Advice advice = sizing::advise(reports, catalog, goal);
  put_text(rendered(advice, options), options.value("out"));
  return sizing::has_offers(advice) ? 0 : static_cast<int>(Fault::failed);
}

}  // namespace gpusizer::cli
