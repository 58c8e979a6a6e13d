// SPDX-License-Identifier: Apache-2.0
// Reads /proc/meminfo, the control group's limits and what the kernel counts of this process.
#include "bench/machine/memory.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

#include "bench/machine/text_file.hpp"

namespace gpusizer {
namespace {

std::optional<std::int64_t> leading_number(std::string_view text) {
  const auto start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;  // "max" of a group without a limit ends here too
  return value;
}

std::optional<std::int64_t> smaller(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

constexpr std::int64_t kPeakSlackBytes = 4 << 20;  // the kernel counts in batches per thread

constexpr const char* kGroup = "/sys/fs/cgroup/memory.";  // version 2; as a container sees its own group

std::optional<std::int64_t> group_limit() { return leading_number(read_text_file(std::string(kGroup) + "max")); }

std::optional<std::int64_t> group_available() {
  const auto limit = group_limit(), used = leading_number(read_text_file(std::string(kGroup) + "current"));
  if (!limit || !used) return std::nullopt;
  // Cached files count as used but give way when memory is needed.
  const std::string stat = read_text_file(std::string(kGroup) + "stat");
  const auto cached = stat.starts_with("inactive_file") ? 0 : stat.find("\ninactive_file ");
  const auto freeable = cached == std::string::npos
                            ? std::nullopt
                            : leading_number(std::string_view(stat).substr(stat.find(' ', cached)));
  return std::max<std::int64_t>(*limit - *used + freeable.value_or(0), 0);
}

std::optional<std::int64_t> address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace

std::optional<std::int64_t> parse_meminfo(std::string_view text, std::string_view key) {
  const std::string wanted = std::string(key) + ":";
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    const auto line = text.substr(start, end - start);
    if (line.starts_with(wanted)) {
      const auto kib = leading_number(line.substr(wanted.size()));
      return kib ? std::optional(*kib * 1024) : std::nullopt;
    }
    start = end + 1;
  }
  return std::nullopt;
}

std::optional<std::int64_t> available_memory_bytes() {
  const auto machine = parse_meminfo(read_text_file("/proc/meminfo"), "MemAvailable");
  return smaller(smaller(machine, group_available()), address_space_limit());
}

std::optional<std::int64_t> total_memory_bytes() {
  return smaller(parse_meminfo(read_text_file("/proc/meminfo"), "MemTotal"), group_limit());
}

bool restart_peak_resident() {
#ifdef __GLIBC__
  malloc_trim(0);  // what was freed before is not to count again
#endif
  std::ofstream file("/proc/self/clear_refs");
  if (!(file << "5" << std::flush)) return false;  // 5: the peak becomes the present size
  // Some sandboxes take the order and do nothing.
  const std::string status = read_text_file("/proc/self/status");
  const auto peak = parse_meminfo(status, "VmHWM"), now = parse_meminfo(status, "VmRSS");
  return peak && now && *peak - *now <= kPeakSlackBytes;
}

std::optional<std::int64_t> peak_resident_bytes() {
  if (const auto peak = parse_meminfo(read_text_file("/proc/self/status"), "VmHWM")) return peak;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0 || usage.ru_maxrss <= 0) return std::nullopt;
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;  // Linux counts KiB
}

}  // namespace gpusizer
