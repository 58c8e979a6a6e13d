// SPDX-License-Identifier: Apache-2.0
// From flags to a simulated case and its report.
#include "bench/cli/run_simulated.hpp"

#include <fmt/format.h>

#include <iostream>

#include "bench/cli/command_text.hpp"
#include "bench/cli/default_out.hpp"
#include "bench/cli/output.hpp"
#include "bench/machine/describe.hpp"
#include "bench/run_config/settings.hpp"
#include "bench/simulation/simulated_record.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/fingerprint.hpp"
#include "reports/record/json.hpp"
#include "reports/record/report_file.hpp"
#include "reports/render/text.hpp"
#include "reports/render/units.hpp"

namespace gpusizer::cli {
namespace {

CaseConfig config_of(const Options& options, const SimulatedDevice& device) {
  for (const char* flag : {"suite", "sweep", "resume", "as"})
    if (options.has(flag))
      throw Error(Fault::usage, "a simulated run is one case, and on no instance", fmt::format("--{}", flag), "leave it out");
  CaseConfig config;
  for (const Setting& setting : settings())
    if (const auto text = options.value(std::string(setting.name))) setting.set(config, parse_setting(setting, *text));
  if (config.mode == "infer") throw Error(Fault::usage, "only training is simulated", "--mode", "leave it out");
  ParallelOptions& layout = config.parallel;
  const std::int64_t model_ranks = layout.pp * layout.tp;
  if (!layout.dp_given) layout.dp = std::max<std::int64_t>(1, layout.devices.value_or(device.devices) / model_ranks), layout.dp_given = true;
  if (device.devices > 1 && layout.ranks() != device.devices)
    throw Error(Fault::usage, fmt::format("the layout has {} ranks, the device says {}", layout.ranks(), device.devices), "--device",
                "make both say the same");
  return config;
}

record::Report report_of(const SimulatedCase& simulated, const Arguments& words) {
  record::Report report;
  report.created_utc = utc_now();
  report.status = record::ReportStatus::complete;
  report.provenance = record::Provenance::predicted;
  report.tool = describe_tool();
  report.command_line = command_text("run", words);
  report.cases.push_back(record_of(simulated));
  report.cases[0].started_utc = report.created_utc;
  report.cases[0].fingerprint = record::make_fingerprint(report.cases[0].config, report.environment, report.tool);
  return report;
}

void say(const SimulatedCase& one, const record::Case& record, const std::string& out) {
  std::cout << render::printable(record.id) << "\n";
  if (record.throughput.value)
    std::cout << fmt::format("  predicted: {} {}, 95 % {} to {}; step {}, of which {} waiting for communication; limited by {}\n",
                             render::significant(*record.throughput.value), record.throughput.unit,
                             render::significant(*record.throughput.low, 3), render::significant(*record.throughput.high, 3),
                             render::time_text(one.step.seconds), render::percent_text(one.step.exposed_seconds / one.step.seconds), bottleneck_of(one));
  else
    std::cout << "  " << record.reason << "\n";
  std::cout << "report: " << render::printable(out) << "\n";
}

}  // namespace

bool is_simulated(const Options& options) { return names_simulated_device(options.value("device").value_or("")); }

int run_simulated(const Options& options, const Arguments& words) {
  const auto catalog = cloud::load_catalog();
  const SimulatedDevice device = simulated_device(*options.value("device"), catalog);
  const SimulatedCase simulated = simulate_case(config_of(options, device), *device.gpu, catalog, 0);
  const record::Report report = report_of(simulated, words);
  std::optional<DefaultOut> claimed;
  if (!options.has("out")) claimed.emplace("", report.created_utc);
  const std::filesystem::path out = claimed ? claimed->path() : std::filesystem::path(*options.value("out"));
  record::write_report(out, report);
  if (options.has("trace")) put_text(trace_of(simulated), options.value("trace"));
  if (options.has("json")) std::cout << record::to_json(report);
  else say(simulated, report.cases[0], out.string());
  return report.cases[0].status == record::CaseStatus::ok ? 0 : static_cast<int>(Fault::failed);
}

}  // namespace gpusizer::cli
