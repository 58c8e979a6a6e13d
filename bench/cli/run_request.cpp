// SPDX-License-Identifier: Apache-2.0
// From the words of a command to a request.
#include "bench/cli/run_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/cli/command_text.hpp"
#include "bench/cli/other_layout.hpp"
#include "bench/cli/output.hpp"
#include "bench/run_config/suite_file.hpp"
#include "bench/runner/resumed_report.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/report_file.hpp"

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
    "  gpusizer run --model bert-large --device simulated:H100-SXM5x64 --precision bf16 --trace t.json   not here\n"
    "  gpusizer run --suite my.json --as c7i.xlarge                                this machine is a c7i.xlarge\n"
    "  gpusizer run --suite my.json --checkpoint saved --out r.json                save after each epoch, and then\n"
    "  gpusizer run --resume r.json                                                go on after an interruption\n"
    "  gpusizer run --resume r.json --parallel dp=2                                the same in another layout\n";

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

void ask(RunRequest& request, const Options& options, const Arguments& words) {
  refuse_input_as_output(options.value("out"), {options.value("suite").value_or("")});
  request.config = make_run_config(options.value("suite").value_or(""), overrides_of(options), sweeps_of(options));
  request.instance = options.value("as").value_or("");
  request.command_line = command_text("run", words);
  request.out = options.value("out").value_or("");
}

bool is_layout(const std::string& name) { return std::ranges::find(layout_flags(), name) != layout_flags().end(); }

void refuse_settings_beside_resume(const Options& options) {
  std::vector<std::string> names{"suite", "as", "sweep"};
  for (const Setting& setting : settings()) names.emplace_back(setting.name);
  for (const std::string& name : names)
    if (options.has(name) && !is_layout(name))
      throw Error(Fault::usage, "--resume takes every setting but the layout over ranks from the report", "--" + name,
                  "leave it out, or start a new report");
}

void ask_with_words(RunRequest& request, const Arguments& words, const std::string& path) {
  Options then = run_options();
  if (then.parse(words)) throw Error(Fault::input, "the report's command asks for help", path, "name another report");
  ask(request, then, words);
}

Arguments given_layout(const Options& options) {
  Arguments flags;
  for (const std::string_view name : layout_flags())
    if (const auto value = options.value(std::string(name))) flags.insert(flags.end(), {fmt::format("--{}", name), *value});
  return flags;
}

// The one case of the report goes on as another one, which does the same job.
void change_layout(RunRequest& request, const Arguments& words, const Arguments& flags, const std::string& path) {
  if (request.config.cases.size() != 1 || request.begun->cases.size() != 1)
    throw Error(Fault::usage, "another layout is possible for a report of one case", flags.front(),
                "leave it out, or start a new report");
  const CaseConfig& begun = request.config.cases.front();
  const std::string id = case_ids(request.config).front();
  if (begun.checkpoint.empty() && !is_done(request.begun->cases.front()))
    throw Error(Fault::usage, "the case has no checkpoints to go on from in another layout", flags.front(),
                "leave it out, or start a new report");
  if (request.begun->cases.front().id != id || is_done(request.begun->cases.front())) return;
  ask_with_words(request, changed_words(words, {.flags = flags, .job_batch = *begun.batch * begun.parallel.dp,
                                                .checkpoint_of = checkpoint_id(begun, id)}), path);
  request.begun->cases.front().id = case_ids(request.config).front();
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
  ask_with_words(request, words, path);
  if (const Arguments flags = given_layout(options); !flags.empty()) change_layout(request, words, flags, path);
  request.out = options.value("out").value_or(path);
}

}  // namespace

Options run_options() {
  Options options("run", "[--suite NAME|FILE] [--model NAME] [flags]", kRunExamples);
  options.flag("suite", "NAME|FILE", "the cases of a suite; other flags then change each of them");
  options.flag("resume", "REPORT", "go on with the unfinished cases of a report; all settings come from it");
  options.flag("as", "INSTANCE", "this machine is such an instance, as in gpusizer list instances");
  options.flag("out", "FILE", "where the report goes [gpusizer-<time>.json in this folder]");
  options.flag("trace", "FILE", "of a simulated device: the step for a trace viewer (chrome://tracing, Perfetto)");
  options.toggle("json", "print the report as JSON on standard output too");
  options.toggle("quiet", "no progress on standard error");
  options.many("sweep", "KEY=A,B,...", "run the case once with each value of a flag, as devices=1,2,4; may be repeated for the product; ; separates values with commas");
  for (const Setting& setting : settings()) {
    if (const auto heading = heading_before(setting.name); !heading.empty()) options.group(std::string(heading));
    options.flag(std::string(setting.name), std::string(setting.placeholder), std::string(setting.help));
  }
  return options;
}

RunRequest request_of(const Options& options, const Arguments& words) {
  RunRequest request;
  if (options.has("resume")) ask_again(request, options);
  else ask(request, options, words);
  return request;
}

}  // namespace gpusizer::cli
