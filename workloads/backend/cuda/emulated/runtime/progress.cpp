// SPDX-License-Identifier: Apache-2.0
// Who runs next: takes one task that is ready, and lets a host thread wait until something has happened.
#include <algorithm>
#include <exception>

#include "workloads/backend/cuda/emulated/runtime/graph.hpp"
#include "workloads/backend/cuda/emulated/runtime/machine.hpp"

namespace gpusizer::emulated {
namespace {

using Clock = std::chrono::steady_clock;

bool is_broken(int device) { return machine().broken[static_cast<size_t>(device)] != cudaSuccess; }

bool is_ready(cudaStream_t stream) {
  if (stream->queue.empty() || stream->busy) return false;
  Task& task = stream->queue.front();
  if (is_broken(stream->device)) return true;
  return (!task.ready || task.ready()) && (!task.graph || graph_ready(*task.graph));
}

// What a task throws is a fault of the device, never of whoever happens to wait.
void run_unlocked(const Task& task, int device, Lock& lock) {
  lock.unlock();
  std::string thrown;
  try {
    task.run();
  } catch (const std::exception& error) {
    thrown = error.what();
  }
  lock.lock();
  if (!thrown.empty()) set_broken(device, cudaErrorLaunchFailure, task.name + ": " + thrown);
  const std::string written = is_broken(device) ? "" : check_guards(device);
  if (!written.empty()) set_broken(device, cudaErrorIllegalAddress, task.name + " writes " + written);
}

void run_task(const Task& task, int device, Lock& lock) {
  if (!task.run || (is_broken(device) && !task.always)) return;
  if (task.locked) {
    task.run();
  } else {
    run_unlocked(task, device, lock);
  }
}

void step(cudaStream_t stream, Lock& lock) {
  stream->busy = true;
  Task& task = stream->queue.front();  // stays where it is while others are put behind it
  bool ended = true;
  if (task.graph && !is_broken(stream->device)) {
    const GraphRun& run = *task.graph;
    if (run.left) run_task(run.tasks[run.next], run.nodes[run.next].device, lock);
    end_of_node(*task.graph);
    ended = run.left == 0;
  }
  if (ended) run_task(task, stream->device, lock);
  stream->busy = false;
  if (ended) {
    stream->queue.pop_front();
    ++stream->finished;
    delete_if_done(stream);
  }
  machine().last_step = Clock::now();
  machine().changed.notify_all();
}

std::string stalled_streams() {
  std::string text = "nothing can go on:";
  for (const cudaStream_t stream : machine().streams) {
    if (stream->queue.empty()) continue;
    const Task& task = stream->queue.front();
    std::string name = task.name;
    if (task.graph)
      for (size_t i = 0; i < task.graph->tasks.size(); ++i)
        if (!task.graph->ended[i]) {
          name += ", in it " + task.graph->tasks[i].name;
          break;
        }
    text += " [a stream of device " + std::to_string(stream->device) + " waits in " + name + ", " +
            std::to_string(stream->queue.size() - 1) + " tasks behind it]";
  }
  return text;
}

void look_for_stall(int device) {
  Machine& m = machine();
  if (std::any_of(m.streams.begin(), m.streams.end(), [](cudaStream_t stream) { return stream->busy; })) return;
  if (Clock::now() - m.last_step < std::chrono::duration<double>(m.settings.stall_seconds)) return;
  set_broken(device, cudaErrorLaunchTimeout, stalled_streams());
  m.last_step = Clock::now();
}

}  // namespace

bool run_some_task(cudaStream_t prefer, Lock& lock) {
  Machine& m = machine();
  const bool random = m.settings.schedule == Schedule::random;
  if (prefer && !random && is_ready(prefer)) {
    step(prefer, lock);
    return true;
  }
  std::vector<cudaStream_t> ready;
  for (const cudaStream_t stream : m.streams) {
    if (!is_ready(stream)) continue;
    ready.push_back(stream);
    if (!random) break;
  }
  if (ready.empty()) return false;
  step(ready[m.random() % ready.size()], lock);
  return true;
}

bool delete_if_done(cudaStream_t stream) {
  if (!stream->destroyed || stream->busy || !stream->queue.empty()) return false;
  std::erase(machine().streams, stream);
  delete stream;
  return true;
}

void abandon_work(cudaStream_t stream) {
  if (stream->busy) return;  // another thread is in its first task
  for (const Task& task : stream->queue)
    if (task.always && task.run) task.run();
  stream->queue.clear();
  stream->finished = stream->submitted;
  machine().changed.notify_all();
}

cudaError_t drain(Lock& lock, cudaStream_t prefer, const std::function<bool()>& done) {
  Machine& m = machine();
  const int device = prefer ? prefer->device : host_thread().device;
  m.last_step = Clock::now();
  while (!done()) {
    if (is_broken(device)) return m.broken[static_cast<size_t>(device)];
    if (run_some_task(prefer, lock)) continue;
    const auto limit =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(m.settings.stall_seconds));
    m.changed.wait_until(lock, m.last_step + limit);
    look_for_stall(device);
  }
  return m.broken[static_cast<size_t>(device)];
}

}  // namespace gpusizer::emulated
