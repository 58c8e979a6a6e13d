// SPDX-License-Identifier: Apache-2.0
// The state of the block that runs: which of its threads may go on, which wait, and for what.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "workloads/backend/cuda/emulated/kernels/block.hpp"
#include "workloads/backend/cuda/emulated/kernels/fiber.hpp"

namespace gpusizer::emulated {

constexpr int most_threads = 1024;  // of a block, on every device so far
constexpr int warp_lanes = 32;
constexpr int most_warp_groups = 8;  // of one warp that wait with different masks at once
constexpr size_t value_bytes = 16;   // the largest value that a shuffle may carry

enum class ThreadState : uint8_t { not_started, running, at_barrier, in_warp, finished };

struct BlockThread {
  Context* fiber;
  uint3 index;
  ThreadState state;
  WarpOperation operation;
  int source;     // the lane that a shuffle reads
  int predicate;  // given to a barrier
  int count;      // what the barrier answers
  Place place;
  alignas(16) std::array<unsigned char, value_bytes> value;
  alignas(16) std::array<unsigned char, value_bytes> result;
};

// Lanes of one warp that wait with the same mask.
struct WarpGroup {
  unsigned mask = 0;
  unsigned here = 0;
  Place place{};
};

struct RunningBlock {
  const Grid* grid;
  RunOrder order;
  uint32_t random;
  Context* own;  // the stack that started the block
  int threads, started, alive, waiting, current;
  int barrier;  // how many barriers were passed: tags of two in a row differ
  std::array<BlockThread, most_threads> thread;
  std::array<uint16_t, most_threads> start_order;
  std::array<uint16_t, most_threads> queue;  // threads that may go on: a ring
  unsigned queue_head, queue_tail;
  std::array<std::array<WarpGroup, most_warp_groups>, most_threads / warp_lanes> warps;
  std::array<Context*, most_threads + 1> idle;  // fibers without a thread
  int idle_count;
  void* shared;
  bool faulty;
  std::string fault;
};

// The one block that runs in this process; run_grid() sees to it that there is only one.
extern RunningBlock running;

void queue_thread(int thread);
void note_fault(const std::string& what);
// The running thread stops until it is queued again and its turn comes.
void wait_for_turn();
std::string to_string(const Place& place);

// What the thread sanitizer orders by; only addresses matter.
struct OrderTags {
  char start, end;
  std::array<char, 2> barrier;
  std::array<char, most_threads / warp_lanes> warp;
};
extern OrderTags order_tags;

}  // namespace gpusizer::emulated
