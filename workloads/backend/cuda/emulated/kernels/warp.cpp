// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp meet: shuffles, votes and __syncwarp, complete when every lane of the mask has arrived.
#include <cstring>

#include "workloads/backend/cuda/emulated/kernels/running_block.hpp"

namespace gpusizer::emulated {
namespace {

// Copied without a call of memcpy, which the thread sanitizer would watch even here.
void copy_value(void* to, const void* from, size_t bytes) {
  switch (bytes) {
    case 2:
      __builtin_memcpy(to, from, 2);
      break;
    case 4:
      __builtin_memcpy(to, from, 4);
      break;
    case 8:
      __builtin_memcpy(to, from, 8);
      break;
    case 16:
      __builtin_memcpy(to, from, 16);
      break;
    default:
      for (size_t i = 0; i < bytes; ++i)
        static_cast<volatile char*>(to)[i] = static_cast<const volatile char*>(from)[i];
  }
}

// The lanes that a warp has: the last warp of a block may be shorter.
unsigned existing_lanes(int warp) {
  const int lanes = running.threads - warp * warp_lanes;
  return lanes >= warp_lanes ? 0xffffffffu : (1u << lanes) - 1;
}

WarpGroup* group_of(int warp, unsigned mask) {
  WarpGroup* unused = nullptr;
  for (WarpGroup& group : running.warps[static_cast<size_t>(warp)]) {
    if (group.mask == mask) return &group;
    if (!group.mask && !unused) unused = &group;
  }
  if (unused) *unused = {mask, 0, running.thread[static_cast<size_t>(running.current)].place};
  return unused;
}

void shuffle(int warp, unsigned mask) {
  BlockThread* lanes = &running.thread[static_cast<size_t>(warp) * warp_lanes];
  for (int lane = 0; lane < warp_lanes; ++lane) {
    if (!(mask >> lane & 1u)) continue;
    int source = lanes[lane].source & (warp_lanes - 1);
    if (!(mask >> source & 1u)) {
      note_fault("a shuffle at " + to_string(lanes[lane].place) + " reads lane " + std::to_string(source) +
                 ", which its mask leaves out");
      source = lane;
    }
    std::memcpy(lanes[lane].result.data(), lanes[source].value.data(), value_bytes);
  }
}

void vote(int warp, unsigned mask) {
  BlockThread* lanes = &running.thread[static_cast<size_t>(warp) * warp_lanes];
  unsigned votes = 0;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    int truth = 0;
    if (mask >> lane & 1u) std::memcpy(&truth, lanes[lane].value.data(), sizeof truth);
    votes |= static_cast<unsigned>(truth != 0) << lane;
  }
  for (int lane = 0; lane < warp_lanes; ++lane)
    if (mask >> lane & 1u) std::memcpy(lanes[lane].result.data(), &votes, sizeof votes);
}

void queue_lanes(int warp, unsigned mask) {
  unsigned start = 0, step = 1;
  if (running.order == RunOrder::reverse) start = step = warp_lanes - 1;
  if (running.order == RunOrder::random) {
    running.random = running.random * 1664525u + 1013904223u;  // any odd step visits each lane once
    start = running.random >> 20u;
    step = running.random >> 26u | 1u;
  }
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const unsigned lane = (start + i * step) % warp_lanes;
    if (mask >> lane & 1u) queue_thread(warp * warp_lanes + static_cast<int>(lane));
  }
}

void arrive(int warp, unsigned lane, unsigned mask, const BlockThread& self) {
  WarpGroup* group = group_of(warp, mask);
  if (!group) return note_fault("lanes of one warp wait with too many masks at " + to_string(self.place));
  if (group->place.id != self.place.id)
    note_fault("lanes of one warp meet in different operations, at " + to_string(group->place) + " and " +
               to_string(self.place));
  group->here |= 1u << lane;
  if (group->here != mask) return;
  *group = {};
  if (self.operation == WarpOperation::shuffle) shuffle(warp, mask);
  if (self.operation == WarpOperation::ballot) vote(warp, mask);
  queue_lanes(warp, mask);
}

}  // namespace

void meet_in_warp(Place place, unsigned mask, WarpOperation operation, int source, const void* value, void* result,
                  size_t bytes) {
  const int warp = running.current / warp_lanes;
  const unsigned lane = lane_of_warp();
  BlockThread& self = running.thread[static_cast<size_t>(running.current)];
  self.state = ThreadState::in_warp;
  self.place = place;
  self.operation = operation;
  self.source = source;
  copy_value(self.value.data(), value, bytes);
  mask &= existing_lanes(warp);
  if (!(mask >> lane & 1u)) {
    note_fault("lane " + std::to_string(lane) + " is not in its own mask at " + to_string(place));
    mask |= 1u << lane;
  }
  void* tag = &order_tags.warp[static_cast<size_t>(warp)];
  happens_before(tag);
  arrive(warp, lane, mask, self);
  wait_for_turn();
  happens_after(tag);
  copy_value(result, self.result.data(), bytes);
}

}  // namespace gpusizer::emulated
