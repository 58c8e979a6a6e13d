// SPDX-License-Identifier: Apache-2.0
// gpusizer predict: throughput, memory and bottleneck on devices that are not here.
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/cli/command.hpp"
#include "bench/cli/options.hpp"
#include "bench/cli/output.hpp"
#include "bench/cli/terminal.hpp"
#include "bench/run_config/parallel_text.hpp"
#include "bench/run_config/settings.hpp"
#include "bench/simulation/known_rates.hpp"
#include "bench/simulation/prediction.hpp"
#include "bench/simulation/simulated_case.hpp"
#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"
#include "reports/published/published.hpp"
#include "reports/render/table.hpp"
#include "reports/render/text.hpp"
#include "reports/render/units.hpp"
#include "reports/sizing/goal_text.hpp"

namespace gpusizer::cli {
namespace {

using nlohmann::ordered_json;
using render::Align;

constexpr const char* kPredictExamples =
    "  gpusizer predict --model resnet50 --gpu A100-SXM4-80GB --devices 8 --precision fp16 --batch 256\n"
    "  gpusizer predict --model bert-base --gpu H100-SXM5 --devices 64 --nodes 8 --precision bf16 --from mine.json\n"
    "  gpusizer predict --model bert-1b --gpu V100-SXM2-16GB --devices 4 --precision fp16 --parallel dp=4 --parallel pp=4\n"
    "  gpusizer predict --model bert-1b --gpu A100-SXM4-80GB --parallel dp=4,sharded --trace step.json\n";

struct Layout {
  std::string words;
  SimulatedCase simulated;
  PredictedRate rate;
};

Options predict_options() {
  Options options("predict", "--model M --gpu G --devices N [flags]", kPredictExamples);
  options.flag("model", "NAME", "as in gpusizer list models");
  options.flag("gpu", "NAME", "as in the catalogue, or another name of it");
  options.flag("devices", "N", "how many, up to 16384 [1, or what --parallel needs]");
  options.flag("nodes", "M", "on so many nodes [as many as 8 devices each need]");
  options.flag("precision", "fp32|tf32|fp16|bf16", "[fp16 where the GPU has it, else fp32]");
  options.flag("batch", "B", "samples per device and step [by the model]");
  options.flag("sequence", "N", "tokens of a sample");
  options.flag("accumulate", "N", "micro-batches of a step [1; with pipeline stages up to four for each]");
  options.many("parallel", "L", "dp=2,pp=2 and the like, with ',sharded' for a sharded optimizer; may be repeated");
  options.many("from", "REPORT|CSV", "measured or published evidence beside the built-in one; may be repeated");
  options.flag("trace", "FILE", "the simulated step of the first layout for a trace viewer");
  options.toggle("no-published", "leave out the built-in published results");
  options.toggle("json", "as JSON");
  options.flag("out", "FILE", "write the answer there instead of to standard output");
  return options;
}

std::int64_t count_of(const Options& options, const char* flag, std::int64_t otherwise) {
  const auto text = options.value(flag);
  return text ? sizing::parse_count(*text, fmt::format("--{}", flag)) : otherwise;
}

const cloud::Gpu& gpu_of(const Options& options, const cloud::Catalog& catalog) {
  const auto name = options.value("gpu");
  if (!name) throw Error(Fault::usage, "the flag is needed", "--gpu", "add --gpu A100-SXM4-80GB");
  if (const cloud::Gpu* gpu = cloud::find_gpu(catalog, *name)) return *gpu;
  std::vector<std::string> known;
  for (const cloud::Gpu& gpu : catalog.gpus) known.push_back(gpu.name);
  const auto near = cloud::nearest_names(*name, known, 3);
  throw Error(Fault::usage, fmt::format("the catalogue has no GPU '{}'", *name), "--gpu",
              near.empty() ? "use a name of the catalogue" : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

CaseConfig base_config(const Options& options, const cloud::Gpu& gpu) {
  CaseConfig config;
  const auto model = options.value("model");
  if (!model) throw Error(Fault::usage, "the flag is needed", "--model", "add --model resnet50");
  config.model = std::string(find_model(*model).name);
  config.precision = options.value("precision").value_or(gpu.fp16_tflops ? "fp16" : "fp32");
  if (options.has("batch")) config.batch = count_of(options, "batch", 0);
  config.options.sequence = count_of(options, "sequence", 0);
  return config;
}

// The largest divisor of the batch up to four for each stage: enough to fill most of a pipeline.
std::int64_t micro_batches(std::int64_t batch, std::int64_t stages) {
  if (stages == 1) return 1;
  std::int64_t parts = std::min(batch, std::min<std::int64_t>(64, 4 * stages));
  while (batch % parts != 0) --parts;
  return parts;
}

void set_layout(CaseConfig& config, std::string words, const Options& options) {
  constexpr std::string_view sharded = ",sharded";
  if (words.ends_with(sharded)) {
    config.parallel.sharded = true;
    words.resize(words.size() - sharded.size());
  }
  if (!words.empty()) read_layout(words, config.parallel);
  const std::int64_t model_ranks = config.parallel.pp * config.parallel.tp, asked = count_of(options, "devices", 0);
  if (!config.parallel.dp_given && asked > 0) config.parallel.dp = std::max<std::int64_t>(1, asked / model_ranks);
  config.parallel.dp_given = true;
  if (asked > 0 && config.parallel.ranks() != asked)
    throw Error(Fault::usage, fmt::format("{} is {} devices, not {}", words, config.parallel.ranks(), asked), "--parallel",
                "make both say the same");
}

bool is_plain(const ParallelOptions& layout) { return layout.pp == 1 && layout.tp == 1 && !layout.sharded; }

RunPlace place_of_case(const SimulatedCase& one, const std::string& gpu) {
  return {gpu, one.devices, one.nodes, one.config.precision, *one.config.batch};
}

SimulatedRate simulated_rate(const CaseConfig& base, const cloud::Catalog& catalog) {
  return [&base, &catalog](const RunPlace& place) {
    CaseConfig config = base;
    config.batch = place.batch, config.precision = place.precision;
    config.parallel.dp = place.devices, config.parallel.dp_given = true;
    return simulate_case(config, *cloud::find_gpu(catalog, place.gpu), catalog, place.nodes).samples_per_second();
  };
}

// Layouts that are not plain data parallel scale what is known of plain ones by what the simulation says.
PredictedRate rate_of(const SimulatedCase& one, const std::vector<KnownRate>& known, const CaseConfig& base,
                      const cloud::Gpu& gpu, const cloud::Catalog& catalog) {
  const auto simulated = simulated_rate(base, catalog);
  RunPlace place = place_of_case(one, gpu.name);
  if (is_plain(one.config.parallel)) return predict_rate(place, known, simulated);
  place.batch = *one.config.batch / (one.config.parallel.pp * one.config.parallel.tp);
  PredictedRate rate = predict_rate(place, known, simulated);
  const double factor = one.samples_per_second() / simulated(place);
  rate.samples_per_second *= factor, rate.low *= factor / 1.1, rate.high *= factor * 1.1;
  rate.evidence = scaling::Evidence::predicted, rate.provenance = record::Provenance::predicted;
  rate.from.push_back(fmt::format("the layout: {:.2f} times plain replicas by the simulated device", factor));
  return rate;
}

std::vector<Layout> layouts_of(const Options& options, const cloud::Gpu& gpu, const cloud::Catalog& catalog, std::vector<std::string>& notes) {
  const CaseConfig base = base_config(options, gpu);
  std::vector<KnownRate> known;
  if (!options.has("no-published")) known = known_rates(published::rows(), base, catalog);
  for (const std::string& path : options.values("from"))
    for (KnownRate& rate : read_known_rates(path, base, catalog, notes)) known.push_back(std::move(rate));
  auto words = options.values("parallel");
  if (words.empty()) words.push_back("");
  std::vector<Layout> layouts;
  for (const std::string& text : words) {
    CaseConfig config = base;
    set_layout(config, text, options);
    CaseConfig customary = config;  // the batch that is customary, per device
    customary.parallel = {};
    const std::int64_t per_device = *complete_case(customary).batch;
    config.batch = per_device * config.parallel.pp * config.parallel.tp;
    config.accumulate = count_of(options, "accumulate", micro_batches(*config.batch, config.parallel.pp));
    SimulatedCase one = simulate_case(config, gpu, catalog, count_of(options, "nodes", 0));
    PredictedRate rate = rate_of(one, known, base, gpu, catalog);
    layouts.push_back({text.empty() ? fmt::format("dp={}", one.devices) : text, std::move(one), std::move(rate)});
  }
  return layouts;
}

std::string unit_of(const SimulatedCase& one) { return fmt::format("{}/s", find_model(one.config.model).sample_unit); }

ordered_json json_of(const Layout& layout) {
  const SimulatedCase& one = layout.simulated;
  const PredictedRate& rate = layout.rate;
  ordered_json json = {{"layout", layout.words}, {"devices", one.devices}, {"nodes", one.nodes}, {"gpu", one.device.name},
                       {"precision", one.config.precision}, {"batch_per_replica", *one.config.batch}};
  json["fits"] = one.fits();
  json["memory"] = {{"planned_bytes", one.planned_bytes}, {"device_bytes", one.device.memory_bytes}, {"need", one.memory_need()}};
  if (one.fits())
    json["throughput"] = {{"value", rate.samples_per_second}, {"low", rate.low}, {"high", rate.high}, {"level", 0.9},
                          {"unit", unit_of(one)}, {"provenance", record::to_word(rate.provenance)},
                          {"evidence", scaling::to_word(rate.evidence)}};
  else
    json["throughput"] = {{"value", nullptr}, {"null_reason", fmt::format("it does not fit: it needs {:.2g} times this card", one.memory_need())}};
  json["simulated_step"] = {{"seconds", one.step.seconds}, {"compute_seconds", one.step.compute_seconds},
                            {"launch_seconds", one.step.launch_seconds}, {"exposed_communication_seconds", one.step.exposed_seconds},
                            {"input_seconds", nullptr}, {"input_null_reason", "the loader is the machine's: not simulated"}, {"roofline_seconds", one.step.floor_seconds}};
  json["bottleneck"] = bottleneck_of(one);
  json["from"] = rate.from;
  json["warnings"] = rate.warnings;
  return json;
}

const Layout* fastest_of(const std::vector<Layout>& layouts) {
  const Layout* best = nullptr;
  for (const Layout& one : layouts)
    if (one.simulated.fits() && (!best || one.rate.samples_per_second > best->rate.samples_per_second)) best = &one;
  return best;
}

std::vector<render::Cell> row_of(const Layout& layout) {
  const SimulatedCase& one = layout.simulated;
  const auto share = [&](double seconds) { return render::percent_text(seconds / one.step.seconds); };
  const std::string memory = one.fits() ? fmt::format("fits, {:.0f} %", 94 * one.memory_need())
                                        : fmt::format("needs {:.2f}x", one.memory_need());
  if (!one.fits()) return {layout.words, "-", "does not fit", "", "", "", "", {memory, render::Tone::bad}};
  return {layout.words, render::significant(layout.rate.samples_per_second),
          render::significant(layout.rate.low, 3) + " to " + render::significant(layout.rate.high, 3),
          render::time_text(one.step.seconds), share(one.step.compute_seconds), share(one.step.launch_seconds),
          share(one.step.exposed_seconds), {memory, render::Tone::good}};
}

std::string text_of(const std::vector<Layout>& layouts, const std::vector<std::string>& notes, const render::Look& look) {
  const SimulatedCase& first = layouts.front().simulated;
  std::string text = fmt::format("{} on {} x {}, {} node{}, {}, batch {} per device\n\n", first.config.model, first.devices,
                                 first.device.name, first.nodes, first.nodes > 1 ? "s" : "", first.config.precision,
                                 *first.config.batch / (first.config.parallel.pp * first.config.parallel.tp));
  render::Table table{{{"layout"}, {unit_of(first), Align::right}, {"90 % interval"}, {"step", Align::right},
                       {.heading = "compute", .align = Align::right, .drop_order = 2}, {.heading = "launch", .align = Align::right, .drop_order = 3},
                       {.heading = "waiting", .align = Align::right, .drop_order = 1}, {"memory"}}, {}};
  for (const Layout& layout : layouts) table.rows.push_back(row_of(layout));
  text += render::layout(table, look);
  for (const Layout& layout : layouts) {
    text += fmt::format("\n{}: {} ({}); limited by {}\n", layout.words, record::to_word(layout.rate.provenance),
                        scaling::to_word(layout.rate.evidence), bottleneck_of(layout.simulated));
    for (const std::string& from : layout.rate.from) text += "  " + render::printable(from) + "\n";
    for (const std::string& warning : layout.rate.warnings) text += "  " + render::printable(warning) + "\n";
  }
  if (const Layout* best = fastest_of(layouts); best && layouts.size() > 1)
    text += fmt::format("\nfastest that fits: {}, limited by {}\n", best->words, bottleneck_of(best->simulated));
  for (const std::string& note : notes) text += render::printable(note) + "\n";
  return text + "Loading data is not in these figures. step, compute, launch and waiting are the simulated device's.\n";
}

}  // namespace

int predict_command(const Arguments& arguments) {
  Options options = predict_options();
  if (options.parse(arguments)) return 0;
  refuse_input_as_output(options.value("out"), options.values("from"));
  refuse_input_as_output(options.value("trace"), options.values("from"));
  const auto catalog = cloud::load_catalog();
  const cloud::Gpu& gpu = gpu_of(options, catalog);
  std::vector<std::string> notes;
  const auto layouts = layouts_of(options, gpu, catalog, notes);
  if (options.has("json")) {
    ordered_json json = {{"schema", "gpusizer.prediction/1"}, {"model", layouts.front().simulated.config.model}, {"layouts", ordered_json::array()}, {"fastest", nullptr}, {"notes", notes}};
    for (const Layout& layout : layouts) json["layouts"].push_back(json_of(layout));
    if (const Layout* best = fastest_of(layouts)) json["fastest"] = best->words;
    put_text(json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n", options.value("out"));
  } else {
    put_text(text_of(layouts, notes, options.value("out") ? render::Look{} : look_of_stdout()), options.value("out"));
  }
  if (options.has("trace")) put_text(trace_of(layouts.front().simulated), options.value("trace"));
  return fastest_of(layouts) ? 0 : static_cast<int>(Fault::failed);
}

}  // namespace gpusizer::cli
