// SPDX-License-Identifier: Apache-2.0
// What a stream does: tasks, one after the other, each when it is ready. Also what a captured graph is made of.
#pragma once

#include <driver_types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace gpusizer::emulated {

using Lock = std::unique_lock<std::mutex>;

struct GraphRun;

struct Task {
  std::string name;
  std::function<bool()> ready;  // asked with the machine locked; empty: always
  std::function<void()> run;
  // Runs with the machine locked; otherwise other threads may go on meanwhile.
  bool locked = false;
  bool always = false;              // bookkeeping, done even after the device broke
  std::shared_ptr<GraphRun> graph;  // a launch of a graph: its nodes run instead, one at a time
};

// Makes the task anew each time: a captured graph is launched often, and a collective must meet its peers each time.
using TaskMaker = std::function<Task()>;

// Queues a task on a stream (null: the current device's legacy stream), or records it where the stream is capturing.
// Fills in errors as a call of `function` would. For the emulated libraries, with the machine not locked.
cudaError_t enqueue(const char* function, cudaStream_t stream, const TaskMaker& make);

// The machine's lock, for libraries whose own state is part of a task's readiness.
Lock lock_machine();
void wake_waiters();  // something became ready

// For libraries: the status that fail_on_call() planted for this call, or 0; counts the call.
int planted_status(const char* function);
// A library returned this error: remembered until its meaning is asked.
void note_returned_error(const char* function, int status, const std::string& status_name);
void note_asked(const std::string& status_name);
// A task found something that a real device would not survive. With the machine not locked.
void report_fault(int device, cudaError_t status, const std::string& message);
int device_of(cudaStream_t stream);
cudaStream_t resolved_stream(cudaStream_t stream);  // null: the current device's legacy stream
// Whether all of [at, at + bytes) is memory that the device can use: its own or pinned.
bool is_device_memory(const void* at, size_t bytes, int device);

}  // namespace gpusizer::emulated
