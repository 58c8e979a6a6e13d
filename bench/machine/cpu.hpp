// SPDX-License-Identifier: Apache-2.0
// What /proc says about the processor, read from text so that it can be tested.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpusizer {

struct CpuInfo {
  std::string model;               // empty when the text does not say
  std::vector<std::string> flags;  // those that decide which kernels run, sorted
  std::optional<std::int64_t> physical_cores;
};

// Of the text of /proc/cpuinfo.
CpuInfo parse_cpu_info(std::string_view text);

// Seconds of processor time since boot, over all cores, from the first line of /proc/stat: busy (all but idle and I/O
// wait; time that the hypervisor stole counts as busy) and total.
struct CpuTime {
  double busy = 0, total = 0;
};
std::optional<CpuTime> parse_cpu_time(std::string_view stat_text, double ticks_per_second);
std::optional<CpuTime> cpu_time();

// Processor seconds that this process has used, all threads.
double own_cpu_seconds();

// Processor time of a process, from the text of /proc/PID/stat; nothing when it is not one.
std::optional<double> parse_process_cpu_seconds(std::string_view stat_text, double ticks_per_second);
// Nothing when there is no such process.
std::optional<double> process_cpu_seconds(std::int64_t process);

// The share of the machine's processor time between two moments that others used: 0 to 1; nothing if it cannot be said.
std::optional<double> others_share(const std::optional<CpuTime>& begin, const std::optional<CpuTime>& end,
                                   double own_seconds);

}  // namespace gpusizer
