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
#include "bench/runner/resumed_report.hpp"
#include "bench/runner/run.hpp"
#include "bench/runner/stop_signals.hpp"
#include "reports/record/json.hpp"
#include "reports/record/report_file.hpp"
#include "reports/render/text.hpp"

namespace gpusizer::cli {
namespace {

constexpr const char* kRunExamples =
    "  gpusizer run --suite demo --out demo.json\n"
    "  gpusizer run --model resnet8 --data fashion-mnist --epochs 3 --out r.json\n"
    "  gpusizer run --model resnet50 --batch 16 --max-seconds 60 --out r.json      time it on made-up images\n"
    "  gpusizer run --model resnet8 --data fashion-mnist --target-accuracy 0.9     time to accuracy\n"
    "  gpusizer run --model resnet18 --data images:/photos --image-size 224 --epochs 1\n"
    "  gpusizer run --mode infer --model resnet50 --weights w.safetensors --precision int8 --rate 20 --out i.json\n"
    "  gpusizer run --model bert-mini --sweep devices=1,2,4 --scaling strong --out s.json   speed-up over ranks\n"
    "  gpusizer run --model bert-base --parallel dp=2,pp=4 --stages 3,3,3,3 --accumulate 8 --batch 16 --out p.json\n"
    "  mpirun -np 4 gpusizer run --model bert-mini --devices 4 --out m.json          one process for each rank\n"
    "  gpusizer run --suite my.json --as c7i.xlarge                                this machine is a c7i.xlarge\n"
    "  gpusizer run --suite my.json --checkpoint saved --out r.json                save after each epoch, and then\n"
    "  gpusizer run --resume r.json                                                go on after an interruption\n";

Options run_options() {
  Options options("run", "[--suite NAME|FILE] [--model NAME] [flags]", kRunExamples);
  options.flag("suite", "NAME|FILE", "the cases of a suite; other flags then change each of them");
  for (const Setting& setting : settings())
    options.flag(std::string(setting.name), std::string(setting.placeholder), std::string(setting.help));
  options.many("sweep", "KEY=A,B,...", "run the case once with each value of a flag, as devices=1,2,4; may be repeated for the product; ; separates values with commas");
  options.flag("resume", "REPORT", "go on with the unfinished cases of a report; all settings come from it");
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

std::vector<Sweep> sweeps_of(const Options& options) {
  std::vector<Sweep> sweeps;
  for (const std::string& text : options.values("sweep")) sweeps.push_back(read_sweep(text));
  return sweeps;
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
    if (outcome.signal != 0)
      std::cout << "to go on: gpusizer run --resume " << render::printable(shell_quoted(out.string())) << "\n";
  }
  return outcome.exit_code();
}

void ask(RunRequest& request, const Options& options, const Arguments& words) {
  refuse_input_as_output(options.value("out"), {options.value("suite").value_or("")});
  request.config = make_run_config(options.value("suite").value_or(""), overrides_of(options),
                                   sweeps_of(options));
  request.instance = options.value("as").value_or("");
  request.command_line = command_text("run", words);
  request.out = options.value("out").value_or("");
}

void refuse_settings_beside_resume(const Options& options) {
  std::vector<std::string> names{"suite", "as", "sweep"};
  for (const Setting& setting : settings()) names.emplace_back(setting.name);
  for (const std::string& name : names)
    if (options.has(name))
      throw Error(Fault::usage, "--resume takes every setting from the report", "--" + name,
                  "leave it out, or start a new report");
}

// Asks for what the report's command asked for. The report is replaced by the one that goes on with it.
void ask_again(RunRequest& request, const Options& options) {
  refuse_settings_beside_resume(options);
  const std::string path = *options.value("resume");
  request.begun = record::read_report(path, record::Series::load);
  Arguments words = shell_words(request.begun->command_line);
  if (words.size() < 2 || words[0] != "gpusizer" || words[1] != "run")
    throw Error(Fault::input, "the report was not made by gpusizer run", path, "name one that was");
  words.erase(words.begin(), words.begin() + 2);
  Options then = run_options();
  if (then.parse(words)) throw Error(Fault::input, "the report's command asks for help", path, "name another report");
  ask(request, then, words);
  request.out = options.value("out").value_or(path);
}

int say_nothing_to_do(const Options& options) {
  std::cout << "there is nothing to do: every case of " << render::printable(*options.value("resume")) << " is done\n";
  return 0;
}

}  // namespace

int run_command(const Arguments& arguments) {
  Options options = run_options();
  if (options.parse(arguments)) return 0;
  RunRequest request;
  if (options.has("resume")) ask_again(request, options);
  else ask(request, options, arguments);
  if (request.begun && is_done(*request.begun, case_ids(request.config))) return say_nothing_to_do(options);
  choose_wait_policy();  // may start the program anew
  std::optional<DefaultOut> claimed;
  if (request.out.empty()) claimed.emplace("", utc_now());
  if (claimed) request.out = claimed->path();

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
