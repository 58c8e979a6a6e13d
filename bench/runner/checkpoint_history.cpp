// SPDX-License-Identifier: Apache-2.0
// A loop's result to lists and back, field by field.
#include "bench/runner/checkpoint_history.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <sstream>
#include <type_traits>

#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

// What has no value is a NaN, which a report shows as having none.
double number(const std::optional<double>& value) { return value.value_or(NAN); }
std::optional<double> maybe(double number) { return std::isnan(number) ? std::nullopt : std::optional(number); }

template <class T>
struct Line {
  const char* name;
  double (*get)(const T&);
  void (*set)(T&, double);
};

template <auto member, class T>
constexpr Line<T> line(const char* name) {
  return {name, [](const T& t) { return static_cast<double>(t.*member); },
          [](T& t, double value) { t.*member = static_cast<std::remove_reference_t<decltype(t.*member)>>(value); }};
}

template <auto member>
constexpr auto step_line = line<member, ExecutedStep>;
template <auto member>
constexpr auto point_line = line<member, EvaluationPoint>;

// Whole numbers below 2^53 are exact as doubles.
constexpr Line<ExecutedStep> step_lines[] = {
    step_line<&ExecutedStep::samples>("step.samples"),
    step_line<&ExecutedStep::seconds>("step.seconds"),
    step_line<&ExecutedStep::data_wait_seconds>("step.data_wait_seconds"),
    step_line<&ExecutedStep::tail>("step.tail"),
    step_line<&ExecutedStep::bucket>("step.bucket"),
    step_line<&ExecutedStep::real_tokens>("step.real_tokens"),
    step_line<&ExecutedStep::padded_tokens>("step.padded_tokens"),
    step_line<&ExecutedStep::skipped>("step.skipped"),
};
static_assert(sizeof(ExecutedStep) == 64, "a new field of a step needs a line above");

constexpr Line<EvaluationPoint> evaluation_lines[] = {
    point_line<&EvaluationPoint::after_steps>("evaluation.after_steps"),
    point_line<&EvaluationPoint::training_seconds>("evaluation.training_seconds"),
    point_line<&EvaluationPoint::evaluation_seconds>("evaluation.seconds"),
    {"evaluation.samples", [](const EvaluationPoint& p) { return static_cast<double>(p.evaluation.samples); },
     [](EvaluationPoint& p, double value) { p.evaluation.samples = static_cast<std::int64_t>(value); }},
    {"evaluation.loss", [](const EvaluationPoint& p) { return p.evaluation.loss; },
     [](EvaluationPoint& p, double value) { p.evaluation.loss = value; }},
    {"evaluation.accuracy", [](const EvaluationPoint& p) { return number(p.evaluation.accuracy); },
     [](EvaluationPoint& p, double value) { p.evaluation.accuracy = maybe(value); }},
};

constexpr const char* late_losses_name = "late_losses";  // of asynchronous steps: how many are told after the checkpoint
constexpr const char* output_prefix = "evaluation.output.";

const std::vector<double>& list_of(const History& history, const std::string& name, const std::string& file) {
  const auto found = history.find(name);
  if (found == history.end())
    throw Error(Fault::input, fmt::format("the checkpoint has no '{}'", name), file, "use another one");
  return found->second;
}

template <class T, std::size_t n>
void put_all(History& history, const Line<T> (&lines)[n], const std::vector<T>& things) {
  for (const Line<T>& one : lines) {
    auto& list = history[one.name];
    list.reserve(things.size());
    for (const T& thing : things) list.push_back(one.get(thing));
  }
}

template <class T, std::size_t n>
std::vector<T> take_all(const History& history, const Line<T> (&lines)[n], const std::string& file) {
  std::vector<T> things(list_of(history, lines[0].name, file).size());
  for (const Line<T>& one : lines) {
    const auto& list = list_of(history, one.name, file);
    if (list.size() != things.size())
      throw Error(Fault::input,
                  fmt::format("the checkpoint's '{}' has {} numbers, and '{}' has {}", one.name, list.size(),
                              lines[0].name, things.size()),
                  file, "use another one");
    for (std::size_t i = 0; i < list.size(); ++i) one.set(things[i], list[i]);
  }
  return things;
}

void take_outputs(const History& history, std::vector<EvaluationPoint>& points, const std::string& file) {
  for (const auto& [name, list] : history) {
    if (!name.starts_with(output_prefix)) continue;
    if (list.size() != points.size())
      throw Error(
          Fault::input,
          fmt::format("the checkpoint's '{}' has {} numbers for {} evaluations", name, list.size(), points.size()),
          file, "use another one");
    for (std::size_t i = 0; i < list.size(); ++i)
      points[i].evaluation.outputs[name.substr(std::string_view(output_prefix).size())] = maybe(list[i]);
  }
}

}  // namespace

History history_of(const LoopResult& result) {
  History history;
  put_all(history, step_lines, result.steps);
  history["loss"] = result.losses;
  if (const std::size_t late = result.steps.size() - result.losses.size(); late > 0)
    history[late_losses_name] = {static_cast<double>(late)};
  put_all(history, evaluation_lines, result.evaluations);
  for (const EvaluationPoint& point : result.evaluations)
    for (const auto& [name, value] : point.evaluation.outputs) history[output_prefix + name].push_back(number(value));
  history["seconds_to_target"] = {};
  if (result.time_to_target_seconds) history["seconds_to_target"].push_back(*result.time_to_target_seconds);
  return history;
}

LoopResult result_of(const History& history, const std::string& file) {
  LoopResult result;
  result.steps = take_all(history, step_lines, file);
  result.losses = list_of(history, "loss", file);
  const auto late = history.find(late_losses_name);
  const double later = late == history.end() || late->second.size() != 1 ? 0 : late->second.front();
  if (static_cast<double>(result.losses.size()) + later != static_cast<double>(result.steps.size()))
    throw Error(Fault::input,
                fmt::format("the checkpoint has {} losses of {} steps", result.losses.size(), result.steps.size()),
                file, "use another one");
  result.evaluations = take_all(history, evaluation_lines, file);
  take_outputs(history, result.evaluations, file);
  const auto& to_target = list_of(history, "seconds_to_target", file);
  if (!to_target.empty()) result.time_to_target_seconds = to_target.front();
  for (const ExecutedStep& step : result.steps) {
    result.training_seconds += step.seconds;
    result.skipped_steps += step.skipped ? 1 : 0;
  }
  return result;
}

// Each list: its name and length on a line, then its numbers as they are in memory.
std::string packed(const History& history) {
  std::string bytes;
  for (const auto& [name, numbers] : history) {
    bytes += fmt::format("{} {}\n", name, numbers.size());
    bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  }
  return bytes;
}

History unpacked(const std::string& bytes) {
  History history;
  for (std::size_t place = 0; place < bytes.size();) {
    const std::size_t end = bytes.find('\n', place);
    std::istringstream words(bytes.substr(place, end - place));
    std::string name;
    std::size_t count = 0;
    words >> name >> count;
    std::vector<double>& numbers = history[name];
    numbers.resize(count);
    if (count > 0) std::memcpy(numbers.data(), bytes.data() + end + 1, count * sizeof(double));
    place = end + 1 + count * sizeof(double);
  }
  return history;
}

}  // namespace gpusizer
