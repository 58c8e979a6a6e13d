// SPDX-License-Identifier: Apache-2.0
// Runs one block of a kernel on the host: a fiber for each CUDA thread, switched only where threads wait for each
// other.
#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace gpusizer::emulated {

// The place of a barrier or warp operation in the source; `id` tells two on one line apart.
struct Place {
  const char* file;
  int line;
  int id;
};

enum class WarpOperation : uint8_t { sync, shuffle, ballot };

// One launch: what each thread does, and how many there are. The body calls the kernel with its arguments.
struct Grid {
  dim3 blocks{1, 1, 1};
  dim3 threads{1, 1, 1};
  size_t shared_bytes = 0;
  std::string name;
  std::function<void()> body;
};

// How run_grid() orders the threads of a block.
enum class RunOrder : uint8_t { forward, reverse, random };

// Runs all blocks one after the other. Returns "" or what went wrong: threads that wait for each other forever, or at
// different barriers. One grid runs at a time in the whole process, since static shared arrays exist once.
std::string run_grid(const Grid& grid, RunOrder order, uint32_t seed);

// --- what a running kernel calls, by way of language.hpp ---
int sync_block(Place place, int predicate);  // how many threads of the block gave a true predicate
// All lanes of `mask` meet; `value` and `result` hold `bytes` (at most 16) bytes. `source`: the lane that is read.
void meet_in_warp(Place place, unsigned mask, WarpOperation operation, int source, const void* value, void* result,
                  size_t bytes);
unsigned lane_of_warp();
void* dyn_smem();  // this block's dynamic shared memory, filled with NaN, as long as the launch said to the byte

}  // namespace gpusizer::emulated
