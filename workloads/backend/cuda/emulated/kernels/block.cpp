// SPDX-License-Identifier: Apache-2.0
// Starts, stops and finishes the threads of a block. A kernel without barriers runs all of them on one fiber.
#include "workloads/backend/cuda/emulated/kernels/block.hpp"

#include "workloads/backend/cuda/emulated/kernels/language.hpp"
#include "workloads/backend/cuda/emulated/kernels/running_block.hpp"

namespace gpusizer::emulated {

RunningBlock running;
OrderTags order_tags;

namespace {

// The next thread that may go on, started where none waits for its turn; -1: none.
int next_thread(Context* reusable) {
  if (running.queue_head != running.queue_tail) return running.queue[running.queue_head++ % most_threads];
  if (running.started == running.threads) return -1;
  const int next = running.start_order[static_cast<size_t>(running.started++)];
  BlockThread& thread = running.thread[static_cast<size_t>(next)];
  if (reusable && !under_thread_sanitizer()) {
    thread.fiber = reusable;
    return next;
  }
  thread.fiber = running.idle[static_cast<size_t>(--running.idle_count)];
  return next;
}

void become(int next) {
  BlockThread& thread = running.thread[static_cast<size_t>(next)];
  running.current = next;
  thread.state = ThreadState::running;
  threadIdx = thread.index;
}

void open_barrier() {
  int count = 0;
  const BlockThread* first = nullptr;
  bool differ = false;
  for (int i = 0; i < running.threads; ++i) {
    const BlockThread& thread = running.thread[static_cast<size_t>(i)];
    if (thread.state != ThreadState::at_barrier) continue;
    count += thread.predicate;
    if (!first) first = &thread;
    differ |= thread.place.id != first->place.id;
  }
  if (differ) note_fault("threads of one block meet at different __syncthreads(), one at " + to_string(first->place));
  running.waiting = 0;
  ++running.barrier;
  for (int i = 0; i < running.threads; ++i) {
    const int thread = running.start_order[static_cast<size_t>(i)];
    if (running.thread[static_cast<size_t>(thread)].state != ThreadState::at_barrier) continue;
    running.thread[static_cast<size_t>(thread)].count = count;
    queue_thread(thread);
  }
}

// A thread has come to its end. Its fiber goes on with another one, or gives way. Returns whether it goes on.
void finish_thread(Context* fiber) {
  running.thread[static_cast<size_t>(running.current)].state = ThreadState::finished;
  --running.alive;
  if (running.alive && running.waiting == running.alive) open_barrier();
  const int next = running.faulty ? -1 : next_thread(fiber);
  if (next >= 0) become(next);
  if (next >= 0 && running.thread[static_cast<size_t>(next)].fiber == fiber) return;
  // For the thread sanitizer two threads of one fiber follow each other, so there each has a fiber of its own.
  if (!under_thread_sanitizer()) running.idle[static_cast<size_t>(running.idle_count++)] = fiber;
  switch_fiber(*fiber, next < 0 ? *running.own : *running.thread[static_cast<size_t>(next)].fiber);
}

}  // namespace

void run_threads() {
  arrive_in_fiber();
  for (;;) {
    Context* fiber = running.thread[static_cast<size_t>(running.current)].fiber;
    happens_after(&order_tags.start);
    running.grid->body();
    happens_before(&order_tags.end);
    finish_thread(fiber);
  }
}

bool start_first_thread() {
  const int first = next_thread(nullptr);
  become(first);
  switch_fiber(*running.own, *running.thread[static_cast<size_t>(first)].fiber);
  return running.alive == 0;
}

void queue_thread(int thread) { running.queue[running.queue_tail++ % most_threads] = static_cast<uint16_t>(thread); }

void note_fault(const std::string& what) {
  if (running.faulty) return;
  running.faulty = true;
  running.fault = what;
}

std::string to_string(const Place& place) {
  return std::string(place.file ? place.file : "?") + ":" + std::to_string(place.line);
}

void wait_for_turn() {
  const int self = running.current;
  Context* fiber = running.thread[static_cast<size_t>(self)].fiber;
  const int next = running.faulty ? -1 : next_thread(nullptr);
  if (next >= 0) become(next);
  if (next == self) return;
  if (next < 0) happens_before(&order_tags.end);
  switch_fiber(*fiber, next < 0 ? *running.own : *running.thread[static_cast<size_t>(next)].fiber);
}

int sync_block(Place place, int predicate) {
  BlockThread& self = running.thread[static_cast<size_t>(running.current)];
  self.state = ThreadState::at_barrier;
  self.place = place;
  self.predicate = predicate;
  void* tag = &order_tags.barrier[static_cast<size_t>(running.barrier % 2)];
  happens_before(tag);
  if (++running.waiting == running.alive) open_barrier();
  wait_for_turn();
  happens_after(tag);
  return self.count;
}

unsigned lane_of_warp() { return static_cast<unsigned>(running.current) % warp_lanes; }

void* dyn_smem() { return running.shared; }

}  // namespace gpusizer::emulated
