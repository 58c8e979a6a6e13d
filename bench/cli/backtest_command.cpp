// SPDX-License-Identifier: Apache-2.0
// gpusizer backtest: how far predictions are off, on published measurements that are left out one by one.
#include <fmt/format.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/cli/command.hpp"
#include "bench/cli/options.hpp"
#include "bench/cli/output.hpp"
#include "bench/cli/terminal.hpp"
#include "bench/simulation/simulated_backtest.hpp"
#include "gpusizer/error.hpp"
#include "reports/render/table.hpp"
#include "reports/render/text.hpp"
#include "reports/sizing/backtest/backtest.hpp"

namespace gpusizer::cli {
namespace {

using nlohmann::ordered_json;
using render::Align;

constexpr const char* kBacktestExamples =
    "  gpusizer backtest published.csv\n"
    "  gpusizer backtest published.csv --json --out backtest.json\n\n"
    "The table has the columns source, model, framework, dataset, gpu, gpu_mem_gb, gpus, nodes, precision, batch_per_gpu,\n"
    "throughput, unit, notes; throughput is of all GPUs. Priors and intervals come from other sources (before the @ in\n"
    "'source') than the row that is predicted.\n";

Options backtest_options() {
  Options options("backtest", "TABLE.csv [flags]", kBacktestExamples);
  options.toggle("json", "figures as JSON, with those by GPU and every row that was held out");
  options.toggle("no-simulation", "leave out the simulated device, which takes most of the time");
  options.toggle("by-gpu", "the table by GPU too, worst first");
  options.flag("out", "FILE", "write there instead of to standard output");
  options.positional("word", 1);
  return options;
}

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

// Label -> the trials of that label, of one situation.
std::vector<backtest::Situation> by_gpu(const backtest::Situation& situation) {
  std::map<std::string, backtest::Situation> groups;
  for (const auto& trial : situation.trials) {
    groups[trial.label].id = trial.label;
    groups[trial.label].trials.push_back(trial);
  }
  std::vector<backtest::Situation> result;
  for (auto& [label, group] : groups) result.push_back(std::move(group));
  std::stable_sort(result.begin(), result.end(), [](const auto& left, const auto& right) {
    return backtest::score(left)->mape > backtest::score(right)->mape;
  });
  return result;
}

ordered_json json_of(const backtest::Score& score) {
  return {{"trials", score.trials}, {"series", score.series}, {"mape", score.mape}, {"median", score.median},
          {"p90", score.p90}, {"bias", score.bias}, {"coverage_90", score.coverage},
          {"coverage_tolerance", score.coverage_tolerance}, {"median_half_width", score.median_half_width}};
}

std::string json_text(const import::PublishedTable& table, const std::vector<backtest::Situation>& situations) {
  ordered_json json = {{"schema", "gpusizer.backtest/1"}, {"rows", table.rows.size()}, {"situations", ordered_json::array()},
                       {"held_out", ordered_json::array()}};
  for (const auto& situation : situations) {
    ordered_json one = {{"id", situation.id}, {"title", situation.title}};
    const auto score = backtest::score(situation);
    if (score) one.update(json_of(*score));
    else one["null_reason"] = "no row of the table can be used for it";
    one["by_gpu"] = ordered_json::array();
    for (const auto& group : by_gpu(situation)) {
      ordered_json row = {{"gpu", group.id}};
      row.update(json_of(*backtest::score(group)));
      one["by_gpu"].push_back(row);
    }
    json["situations"].push_back(one);
  }
  for (const auto& finding : table.held_out)
    json["held_out"].push_back({{"line", finding.line}, {"kind", finding.kind}, {"sentence", finding.sentence}});
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<render::Cell> row_of(const std::string& title, const std::optional<backtest::Score>& score) {
  if (!score) return {title, "0", "", "no row can be used"};
  const bool good = std::abs(score->coverage - 0.9) <= score->coverage_tolerance;
  return {title, std::to_string(score->trials), std::to_string(score->series), percent(score->mape), percent(score->median),
          percent(score->p90), {fmt::format("{:.3f}{}", score->coverage, good ? "" : " !"),
                                good ? render::Tone::plain : render::Tone::warning},
          percent(score->median_half_width)};
}

render::Table empty_table(const char* heading) {
  return {{{.heading = heading, .min_width = 16}, {"rows", Align::right}, {.heading = "series", .align = Align::right, .drop_order = 2},
           {"MAPE %", Align::right}, {"median", Align::right}, {"p90", Align::right}, {"coverage", Align::right},
           {.heading = "+- %", .align = Align::right, .drop_order = 1}}, {}};
}

std::string held_out_text(const import::PublishedTable& table) {
  std::map<std::string, std::pair<std::size_t, const import::Finding*>> kinds;
  for (const auto& finding : table.held_out) {
    auto& [count, first] = kinds[finding.kind];
    if (count++ == 0) first = &finding;
  }
  std::string text;
  for (const auto& [kind, held] : kinds)
    text += render::printable(fmt::format("held out: {} as {} (line {}: {})", held.first, kind, held.second->line, held.second->sentence)) + "\n";
  return text;
}

std::string table_text(const import::PublishedTable& table, const std::vector<backtest::Situation>& situations,
                       const render::Look& look, bool with_gpus) {
  render::Table figures = empty_table("left out and predicted");
  for (const auto& situation : situations) figures.rows.push_back(row_of(situation.title, backtest::score(situation)));
  std::string text = render::layout(figures, look);
  text += "\nErrors are of throughput; coverage is of the 90 % intervals, ! where it is further from 0.90 than the number of\n"
          "series explains; +- is the median half width.\n";
  for (const auto& situation : situations) {
    if (!with_gpus || !situation.id.starts_with("gpu_")) continue;
    render::Table gpus = empty_table(situation.title.c_str());
    for (const auto& group : by_gpu(situation)) gpus.rows.push_back(row_of(group.id, backtest::score(group)));
    text += "\n" + render::layout(gpus, look);
  }
  return text + "\n" + fmt::format("{} rows used\n", table.rows.size()) + held_out_text(table);
}

}  // namespace

int backtest_command(const Arguments& arguments) {
  Options options = backtest_options();
  if (options.parse(arguments)) return 0;
  const auto names = options.values("word");
  if (names.empty()) throw Error(Fault::usage, "no table was named", "", "write gpusizer backtest TABLE.csv");
  refuse_input_as_output(options.value("out"), names);
  const auto table = import::read_published(import::parse_csv(import::read_text(names[0]), names[0]), names[0]);
  const auto catalog = cloud::load_catalog();
  auto situations = backtest::backtest(table, catalog);
  if (!options.has("no-simulation"))
    for (auto& one : backtest_simulated(table.rows, catalog)) {
      backtest::calibrate({&one});
      situations.push_back(std::move(one));
    }
  put_text(options.has("json") ? json_text(table, situations)
                               : table_text(table, situations, options.value("out") ? render::Look{} : look_of_stdout(),
                                            options.has("by-gpu")),
           options.value("out"));
  for (const auto& situation : situations)
    if (!situation.trials.empty()) return 0;
  return static_cast<int>(Fault::failed);
}

}  // namespace gpusizer::cli
