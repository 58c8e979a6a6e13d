// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's texts about the processor.
#include "bench/machine/cpu.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <utility>

#include "bench/machine/text_file.hpp"

namespace gpusizer {
namespace {

// Prefixes of the flags that oneDNN and compilers look at.
constexpr std::array<std::string_view, 8> kDecisive = {"sse4", "avx", "amx", "fma", "f16c", "bmi", "asimd", "sve"};

std::pair<std::string, std::string> key_and_value(const std::string& line) {
  const auto colon = line.find(':');
  if (colon == std::string::npos) return {};
  const auto key_end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
  const auto value_start = line.find_first_not_of(" \t", colon + 1);
  return {line.substr(0, key_end + 1), value_start == std::string::npos ? "" : line.substr(value_start)};
}

std::vector<std::string> decisive_flags(const std::string& all) {
  std::set<std::string> chosen;
  std::istringstream words(all);
  for (std::string word; words >> word;)
    if (std::any_of(kDecisive.begin(), kDecisive.end(), [&](std::string_view p) { return word.starts_with(p); }))
      chosen.insert(word);
  return {chosen.begin(), chosen.end()};
}

}  // namespace

CpuInfo parse_cpu_info(std::string_view text) {
  CpuInfo info;
  std::set<std::pair<std::string, std::string>> cores;  // (socket, core)
  std::string socket = "0";
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const auto [key, value] = key_and_value(line);
    if (key == "model name" && info.model.empty()) info.model = value;
    if ((key == "flags" || key == "Features") && info.flags.empty()) info.flags = decisive_flags(value);
    if (key == "physical id") socket = value;
    if (key == "core id") cores.emplace(socket, value);
  }
  if (!cores.empty()) info.physical_cores = static_cast<std::int64_t>(cores.size());
  return info;
}

std::optional<CpuTime> parse_cpu_time(std::string_view stat_text, double ticks_per_second) {
  std::istringstream line{std::string(stat_text.substr(0, stat_text.find('\n')))};
  std::string name;
  line >> name;
  if (name != "cpu" || !(ticks_per_second > 0)) return std::nullopt;
  // user nice system idle iowait irq softirq steal; what follows is counted in user and nice already.
  std::array<double, 8> ticks{};
  for (double& value : ticks)
    if (!(line >> value)) return std::nullopt;
  CpuTime time;
  for (double value : ticks) time.total += value / ticks_per_second;
  time.busy = time.total - (ticks[3] + ticks[4]) / ticks_per_second;
  return time;
}

std::optional<CpuTime> cpu_time() {
  return parse_cpu_time(read_text_file("/proc/stat"), static_cast<double>(sysconf(_SC_CLK_TCK)));
}

std::optional<double> parse_process_cpu_seconds(std::string_view stat_text, double ticks_per_second) {
  // The name in brackets may hold anything; the 14th and 15th word are ticks as user and as system.
  const std::size_t name_end = stat_text.rfind(") ");
  if (name_end == std::string_view::npos || !(ticks_per_second > 0)) return std::nullopt;
  std::istringstream words{std::string(stat_text.substr(name_end + 2))};
  std::string passed;
  for (int word = 3; word < 14; ++word) words >> passed;
  double user = 0, system = 0;
  if (!(words >> user >> system)) return std::nullopt;
  return (user + system) / ticks_per_second;
}

std::optional<double> process_cpu_seconds(std::int64_t process) {
  return parse_process_cpu_seconds(read_text_file("/proc/" + std::to_string(process) + "/stat"),
                                   static_cast<double>(sysconf(_SC_CLK_TCK)));
}

double own_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::optional<double> others_share(const std::optional<CpuTime>& begin, const std::optional<CpuTime>& end,
                                   double own_seconds) {
  if (!begin || !end || !(end->total > begin->total)) return std::nullopt;
  return std::clamp((end->busy - begin->busy - own_seconds) / (end->total - begin->total), 0.0, 1.0);
}

}  // namespace gpusizer
