// SPDX-License-Identifier: Apache-2.0
// The emulated machine's state, as it is behind the CUDA runtime of one process: devices, memory, streams, errors.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "workloads/backend/cuda/emulated/control.hpp"
#include "workloads/backend/cuda/emulated/runtime/task.hpp"

namespace gpusizer::emulated {

struct Capture;  // graph.hpp

constexpr size_t most_emulated_devices = 16;
constexpr unsigned char unset_memory = 0xff;  // NaN in every floating-point type
constexpr unsigned char guard_pattern = 0xa5;

struct Allocation {
  size_t bytes = 0;
  int device = 0;
  bool pinned = false;    // host memory that devices can read
  void* block = nullptr;  // what malloc gave: the guards are in it
};

struct GuardZone {
  size_t bytes = 0;
  int device = 0;
};

struct PlantedFailure {
  int calls_left = 0;
  int status = 0;
};

// All of it changes under `mutex`. The CUDA runtime is one for a process, so this is too.
struct Machine {
  std::mutex mutex;
  std::condition_variable changed;
  Settings settings = settings_from_environment();
  std::mt19937 random{settings.seed};
  std::map<uintptr_t, Allocation> memory;
  std::map<uintptr_t, GuardZone> guards;
  std::array<size_t, most_emulated_devices> used{};
  std::array<size_t, most_emulated_devices> reserved_by_other{};
  std::vector<cudaStream_t> streams;
  std::array<cudaStream_t, most_emulated_devices> legacy{};
  std::array<cudaError_t, most_emulated_devices> broken{};
  std::string fault;
  std::map<std::string, PlantedFailure> planted;
  std::map<std::string, int> calls;
  std::vector<std::pair<std::string, std::string>> unasked;  // function, status
  std::map<const void*, size_t> shared_limit;                // kernels that opted in to more shared memory
  int global_captures = 0;
  uint64_t ids = 0;
  std::chrono::steady_clock::time_point last_step = std::chrono::steady_clock::now();

  Machine();
};

Machine& machine();

struct HostThread {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  int captures = 0;  // that forbid this thread what cannot be captured
  bool relaxed = false;
};
HostThread& host_thread();

// --- memory.cpp ---
const Allocation* find_allocation(const void* at, uintptr_t* begin = nullptr);
// "" or which guard was written to.
std::string check_guards(int device);

// --- streams.cpp and progress.cpp: with the machine locked ---
cudaStream_t resolve(cudaStream_t stream);
cudaError_t put(cudaStream_t stream, const TaskMaker& make, Lock& lock);
// Runs tasks until `done`, or until the device of `stream` is broken; null: the current device.
cudaError_t drain(Lock& lock, cudaStream_t prefer, const std::function<bool()>& done);
bool run_some_task(cudaStream_t prefer, Lock& lock);
bool device_idle(int device);
// Takes everything off the queue without doing it, as after the device broke.
void abandon_work(cudaStream_t stream);
// Deletes a stream that the program has destroyed, once it has nothing left to do. Returns whether it is gone.
bool delete_if_done(cudaStream_t stream);
void set_broken(int device, cudaError_t status, const std::string& message);
void remember_unasked(const std::string& function, const std::string& status_name);

}  // namespace gpusizer::emulated

// The runtime declares these names and leaves what is in them to its implementation.
struct CUstream_st {
  uint64_t id = 0;  // never used again, unlike the address
  int device = 0;
  bool legacy = false;
  bool nonblocking = false;
  int priority = 0;
  std::deque<gpusizer::emulated::Task> queue;
  uint64_t submitted = 0;
  uint64_t finished = 0;
  bool busy = false;
  bool destroyed = false;  // by the program: goes when its work is done
  std::shared_ptr<gpusizer::emulated::Capture> capture;
  std::vector<size_t> capture_tail;  // nodes that the next one depends on
};

struct CUevent_st {
  int device = 0;
  bool timed = true;
  bool destroyed = false;  // by the program: goes with the last task that refers to it
  int references = 0;
  uint64_t recorded = 0;
  uint64_t reached = 0;
  double milliseconds = 0;
  std::weak_ptr<gpusizer::emulated::Capture> capture;  // set by a record in a capture, until a record outside one
  std::vector<size_t> capture_tail;
  bool captured = false;
};
