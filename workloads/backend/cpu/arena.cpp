// SPDX-License-Identifier: Apache-2.0
// Memory mapped from the system: zero at first, and given back whole.
#include "workloads/backend/cpu/arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "gpusizer/error.hpp"

namespace gpusizer::cpu {

Arena::Arena(int64_t bytes) : bytes_(std::max<int64_t>(bytes, 64)) {
  void* p = mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    throw Error(Fault::failed, fmt::format("out of memory: {} MiB were asked for", bytes_ >> 20), "cpu",
                "use a smaller --batch");
  madvise(p, static_cast<size_t>(bytes_), MADV_HUGEPAGE);  // only a hint
  data_ = static_cast<std::byte*>(p);
}

Arena::~Arena() { munmap(data_, static_cast<size_t>(bytes_)); }

}  // namespace gpusizer::cpu
