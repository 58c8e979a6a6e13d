// SPDX-License-Identifier: Apache-2.0
// Runs a grid block by block: prepares each block, its shared memory and enough fibers, and says what went wrong.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "workloads/backend/cuda/emulated/kernels/language.hpp"
#include "workloads/backend/cuda/emulated/kernels/running_block.hpp"

namespace gpusizer::emulated {

void run_threads();         // block.cpp
bool start_first_thread();  // returns whether the block came to its end

namespace {

constexpr size_t shared_guard_bytes = 64;
constexpr unsigned char guard_byte = 0xa5;
constexpr unsigned char unset_byte = 0xff;  // NaN in every floating-point type

// Fibers are kept from block to block and from thread to thread of the process, one grid at a time.
struct FiberPool {
  std::vector<std::unique_ptr<Context>> fibers;

  void grow(size_t count) {
    while (fibers.size() < count) fibers.push_back(std::make_unique<Context>(make_fiber(run_threads)));
  }
  void clear() {
    for (auto& fiber : fibers) free_fiber(*fiber);
    fibers.clear();
  }
};

FiberPool& fiber_pool() {
  static FiberPool* one = new FiberPool;  // never destroyed: a kernel may run while the process ends
  return *one;
}

Context& own_context() {
  thread_local Context own;
  return own;
}

void order_threads(uint32_t seed) {
  auto* first = running.start_order.data();
  auto* last = first + running.threads;
  std::iota(first, last, uint16_t{0});
  if (running.order == RunOrder::reverse) std::reverse(first, last);
  if (running.order == RunOrder::random) {
    std::mt19937 random(seed);
    std::shuffle(first, last, random);
  }
}

void prepare_block(const Grid& grid, uint3 block, uint32_t seed) {
  running.threads = static_cast<int>(grid.threads.x * grid.threads.y * grid.threads.z);
  running.alive = running.threads;
  running.started = running.waiting = running.barrier = 0;
  running.queue_head = running.queue_tail = 0;
  running.random = seed;
  running.faulty = false;
  running.fault.clear();
  for (auto& groups : running.warps) groups.fill({});
  const unsigned x = grid.threads.x, y = grid.threads.y;
  for (unsigned t = 0; t < static_cast<unsigned>(running.threads); ++t) {
    running.thread[t].state = ThreadState::not_started;
    running.thread[t].index = {t % x, t / x % y, t / (x * y)};
  }
  order_threads(seed);
  blockIdx = block;
  blockDim = grid.threads;
  gridDim = grid.blocks;
}

// Fibers for as many threads as may wait at once. A pool starts small: most kernels that never wait need one.
void offer_fibers(FiberPool& pool) {
  pool.grow(static_cast<size_t>(running.threads) + 1);
  running.idle_count = 0;
  for (int i = running.threads; i >= 0; --i)
    running.idle[static_cast<size_t>(running.idle_count++)] = pool.fibers[static_cast<size_t>(i)].get();
}

std::string waiting_threads() {
  std::map<std::string, int> places;
  for (int i = 0; i < running.threads; ++i) {
    const BlockThread& thread = running.thread[static_cast<size_t>(i)];
    if (thread.state == ThreadState::at_barrier) ++places["__syncthreads() at " + to_string(thread.place)];
    if (thread.state == ThreadState::in_warp) ++places["a warp operation at " + to_string(thread.place)];
  }
  std::string text = "threads wait for each other forever:";
  for (const auto& [place, count] : places) text.append(" ").append(std::to_string(count)).append(" in " + place + ",");
  return text.append(" ").append(std::to_string(running.threads - running.alive)).append(" have ended");
}

// Threads that were stopped somewhere have done what they did before that.
void happens_after_all() {
  for (char& tag : order_tags.barrier) happens_after(&tag);
  for (char& tag : order_tags.warp) happens_after(&tag);
}

std::string run_block(const Grid& grid, uint3 block, uint32_t seed) {
  FiberPool& pool = fiber_pool();
  prepare_block(grid, block, seed);
  offer_fibers(pool);
  running.own = &own_context();
  describe_own_stack(*running.own);
#if defined(__SANITIZE_ADDRESS__)
  const size_t guard = 0;  // the sanitizer has its own behind the exact length
#else
  const size_t guard = shared_guard_bytes;
#endif
  std::unique_ptr<unsigned char, void (*)(void*)> shared(
      static_cast<unsigned char*>(std::malloc(std::max<size_t>(grid.shared_bytes + guard, 1))), std::free);
  std::memset(shared.get(), unset_byte, grid.shared_bytes);
  std::memset(shared.get() + grid.shared_bytes, guard_byte, guard);
  running.shared = shared.get();
  happens_before(&order_tags.start);
  const bool ended = start_first_thread();
  happens_after(&order_tags.end);
  if (!ended) happens_after_all();
  running.shared = nullptr;
  if (!ended && !running.faulty) note_fault(waiting_threads());
  for (size_t i = 0; i < guard; ++i)
    if (shared.get()[grid.shared_bytes + i] != guard_byte) note_fault("it writes past its dynamic shared memory");
  if (!ended) pool.clear();  // their threads are stopped for good
  return running.fault;
}

}  // namespace

std::string run_grid(const Grid& grid, RunOrder order, uint32_t seed) {
  static std::mutex one_grid;  // static shared arrays and threadIdx exist once in the process
  const std::lock_guard lock(one_grid);
  running.grid = &grid;
  running.order = order;
  for (unsigned z = 0; z < grid.blocks.z; ++z)
    for (unsigned y = 0; y < grid.blocks.y; ++y)
      for (unsigned x = 0; x < grid.blocks.x; ++x) {
        const std::string fault = run_block(grid, {x, y, z}, seed++);
        if (fault.empty()) continue;
        return grid.name + ", block (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) +
               "): " + fault;
      }
  return "";
}

}  // namespace gpusizer::emulated
