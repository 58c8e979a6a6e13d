// SPDX-License-Identifier: Apache-2.0
// gpusizer run: from flags to cases, to a report file and a few lines for a person.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "bench/cli/command.hpp"
#include "bench/cli/command_text.hpp"
#include "bench/cli/default_out.hpp"
#include "bench/cli/options.hpp"
#include "bench/cli/output.hpp"
#include "bench/cli/progress_line.hpp"
#include "bench/cli/terminal.hpp"
#include "bench/cli/wait_policy.hpp"
#include "bench/machine/describe.hpp"
#include "bench/run_config/suite_file.hpp"
#include "bench/runner/run.hpp"
#include "bench/runner/stop_signals.hpp"
#include "reports/record/json.hpp"
#include "reports/render/text.hpp"

namespace gpusizer::cli {
namespace {

constexpr const char* kRunExamples =
    "  gpusizer run --suite demo --out demo.json\n"
    "  gpusizer run --model resnet8 --data fashion-mnist --epochs 3 --out r.json\n"
    "  gpusizer run --model resnet50 --batch 16 --max-seconds 60 --out r.json      time it on made-up images\n"
    "  gpusizer run --model resnet8 --data fashion-mnist --target-accuracy 0.9     time to accuracy\n"
    "  gpusizer run --model resnet18 --data images:/photos --image-size 224 --epochs 1\n"
    "  gpusizer run --suite my.json --as c7i.xlarge                                this machine is a c7i.xlarge\n";

Options run_options() {
  Options options("run", "[--suite NAME|FILE] [--model NAME] [flags]", kRunExamples);
  options.flag("suite", "NAME|FILE", "the cases of a suite; other flags then change each of them");
  for (const Setting& setting : settings())
    options.flag(std::string(setting.name), std::string(setting.placeholder), std::string(setting.help));
  options.flag("as", "INSTANCE", "this machine is such an instance, as in gpusizer list instances");
  options.flag("out", "FILE", "where the report goes [gpusizer-<time>.json in this folder]");
  options.toggle("json", "print the report as JSON on standard output too");
  options.toggle("quiet", "no progress on standard error");
  return options;
}

Overrides overrides_of(const Options& options) {
  Overrides overrides;
  for (const Setting& setting : settings())
    if (const auto text = options.value(std::string(setting.name)))
      overrides.emplace_back(&setting, parse_setting(setting, *text));
  return overrides;
}

// Nothing is lost silently: what did not reach its file goes to standard output.
int conclude(const RunOutcome& outcome, const std::filesystem::path& out, bool json, bool shown) {
  if (json || outcome.write_problem) std::cout << record::to_json(outcome.report);
  if (outcome.write_problem)
    throw Error(outcome.write_problem->fault(),
                fmt::format("the report could not be written to {}, so it was printed instead: {}", out.string(),
                            outcome.write_problem->problem()), "--out", "save the output, or make room and run again");
  if (!json) {
    for (const record::Case& record : shown ? std::vector<record::Case>{} : outcome.report.cases)
      std::cout << render::printable(record.id) << "  " << render::printable(summary_of(record)) << "\n";
    std::cout << "report: " << render::printable(out.string()) << "\n";
  }
  return outcome.exit_code();
}

}  // namespace

int run_command(const Arguments& arguments) {
  Options options = run_options();
  if (options.parse(arguments)) return 0;
  RunRequest request;
  refuse_input_as_output(options.value("out"), {options.value("suite").value_or("")});
  request.config = make_run_config(options.value("suite").value_or(""), overrides_of(options));
  request.instance = options.value("as").value_or("");
  request.command_line = command_text("run", arguments);
  choose_wait_policy();  // may start the program anew
  std::optional<DefaultOut> claimed;
  if (!options.has("out")) claimed.emplace("", utc_now());
  request.out = claimed ? claimed->path() : std::filesystem::path(*options.value("out"));

  ProgressLine progress(stderr, stderr_is_terminal(), options.has("quiet"));
  request.progress = progress.callbacks();
  const StopSignals signals;
  request.stop = [&] { return signals.received(); };
  const RunOutcome outcome = run_cases(request);
  // A person who watched the progress on this terminal has seen each case's line already.
  const bool shown = !options.has("quiet") && stderr_is_terminal() && stdout_is_terminal();
  return conclude(outcome, request.out, options.has("json"), shown);
}

}  // namespace gpusizer::cli
