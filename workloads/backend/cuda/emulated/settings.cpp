// SPDX-License-Identifier: Apache-2.0
// Reads the settings of the emulated machine from variables of the environment.
#include "workloads/backend/cuda/emulated/settings.hpp"

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "gpusizer/error.hpp"

namespace gpusizer::emulated {
namespace {

constexpr int most_devices = 16;

[[noreturn]] void refuse_variable(const std::string& name, const std::string& value, const std::string& hint) {
  throw Error(Fault::usage, "the emulated device cannot use '" + value + "'", name, hint);
}

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

// A number with an optional K, M or G behind it.
double number(const std::string& name, double otherwise, double least, double most) {
  const auto text = variable(name);
  if (!text) return otherwise;
  char* end = nullptr;
  double value = std::strtod(text->c_str(), &end);
  static const std::map<std::string, double> units = {{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}};
  const auto unit = units.find(end);
  if (end == text->c_str() || unit == units.end()) refuse_variable(name, *text, "give a number, such as 2 or 1G");
  value *= unit->second;
  if (!(value >= least && value <= most)) refuse_variable(name, *text, "give a number in its range");
  return value;
}

template <class T>
T choice(const std::string& name, T otherwise, const std::map<std::string, T>& choices) {
  const auto text = variable(name);
  if (!text) return otherwise;
  const auto found = choices.find(*text);
  std::string names;
  for (const auto& [key, value] : choices) names += (names.empty() ? "" : ", ") + key;
  if (found == choices.end()) refuse_variable(name, *text, "use one of " + names);
  return found->second;
}

}  // namespace

Settings settings_from_environment() {
  Settings s;
  s.devices = static_cast<int>(number("GPUSIZER_EMU_DEVICES", s.devices, 0, most_devices));
  s.memory_bytes = static_cast<size_t>(number("GPUSIZER_EMU_MEMORY", static_cast<double>(s.memory_bytes), 1, 1e15));
  s.capability = static_cast<int>(number("GPUSIZER_EMU_CAPABILITY", s.capability, 50, 200));
  s.schedule = choice<Schedule>("GPUSIZER_EMU_SCHEDULE", s.schedule,
                                {{"eager", Schedule::eager}, {"lazy", Schedule::lazy}, {"random", Schedule::random}});
  s.thread_order = choice<ThreadOrder>("GPUSIZER_EMU_ORDER", s.thread_order,
                                       {{"forward", ThreadOrder::forward},
                                        {"reverse", ThreadOrder::reverse},
                                        {"random", ThreadOrder::random},
                                        {"both", ThreadOrder::both}});
  s.seed = static_cast<uint32_t>(number("GPUSIZER_EMU_SEED", s.seed, 0, 4294967295.0));
  s.stall_seconds = number("GPUSIZER_EMU_STALL_SECONDS", s.stall_seconds, 0.001, 1e6);
  return s;
}

}  // namespace gpusizer::emulated
