// SPDX-License-Identifier: Apache-2.0
// The scheduler's affinity masks.
#include "bench/runner/cores.hpp"

#include <pthread.h>
#include <sched.h>

namespace gpusizer {

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
  if (cores.empty()) cores.push_back(0);
  return cores;
}

std::span<const int> part_of(std::span<const int> cores, int parts, int place) {
  const auto count = static_cast<int>(cores.size());
  if (count < parts) return cores.subspan(static_cast<std::size_t>(place % count), 1);
  const int each = count / parts, more = count % parts;
  const int begin = place * each + (place < more ? place : more);
  return cores.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(each + (place < more ? 1 : 0)));
}

void bind_thread(std::span<const int> cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace gpusizer
