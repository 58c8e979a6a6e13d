// SPDX-License-Identifier: Apache-2.0
// What the emulated machine is like: how many devices, how much memory, and in which order it does what may be
// reordered.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpusizer::emulated {

// In which order tasks of different streams run. Eager runs a task when it is given and so hides missing waits; lazy
// runs it when somebody waits for its stream; random takes any task that may run.
enum class Schedule : uint8_t { eager, lazy, random };

// In which order the threads of a block run between two barriers. `both` runs every kernel forward and in reverse on
// the same memory and calls it a fault when the two leave different bytes: what a missing __syncthreads() does.
enum class ThreadOrder : uint8_t { forward, reverse, random, both };

struct Settings {
  int devices = 1;                                  // GPUSIZER_EMU_DEVICES: 0 to 16
  size_t memory_bytes = size_t{8} << 30;            // GPUSIZER_EMU_MEMORY: bytes of each device, or 512M, 1G
  int capability = 90;                              // GPUSIZER_EMU_CAPABILITY: 75, 80, 86, 89, 90, 100, 120
  Schedule schedule = Schedule::lazy;               // GPUSIZER_EMU_SCHEDULE: eager, lazy, random
  ThreadOrder thread_order = ThreadOrder::forward;  // GPUSIZER_EMU_ORDER: forward, reverse, random, both
  uint32_t seed = 1;                                // GPUSIZER_EMU_SEED
  double stall_seconds = 20;                        // GPUSIZER_EMU_STALL_SECONDS: nothing moved for so long is a fault
};

// Beside these, GPUSIZER_EMU_FAIL plants failures (control.hpp), and GPUSIZER_EMU_STRICT=1 makes a program that let an
// error pass without asking what it means end with exit code 99.
// Throws gpusizer::Error(usage) for a variable that cannot be read.
Settings settings_from_environment();

}  // namespace gpusizer::emulated
