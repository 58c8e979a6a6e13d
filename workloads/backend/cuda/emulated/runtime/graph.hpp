// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: what a capture records, and what an instantiated graph runs at each launch.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <thread>
#include <vector>

#include "workloads/backend/cuda/emulated/runtime/task.hpp"

namespace gpusizer::emulated {

struct GraphNode {
  TaskMaker make;
  std::vector<size_t> after;  // nodes that must have ended
  int device = 0;
};

// A capture that runs: streams join it by waiting for events recorded in it.
struct Capture {
  std::vector<GraphNode> nodes;
  std::vector<cudaStream_t> streams;  // the origin first
  cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
  cudaError_t broken = cudaSuccess;  // an operation that may not be captured was tried
  std::thread::id thread;            // that began it
};

// One launch of a graph: its nodes as tasks, and which of them have ended.
struct GraphRun {
  std::vector<GraphNode> nodes;
  std::vector<Task> tasks;
  std::vector<char> ended;
  size_t left = 0;
  size_t next = 0;  // chosen by graph_ready()
  CUgraphExec_st* exec = nullptr;
  uint64_t launch = 0;
};

// Whether some node may run now; chooses it.
bool graph_ready(GraphRun& run);
void end_of_node(GraphRun& run);

// With the machine locked: records instead of queuing.
void record_in_capture(cudaStream_t stream, const TaskMaker& make);
void record_event_in_capture(cudaStream_t stream, cudaEvent_t event);
cudaError_t wait_event_in_capture(cudaStream_t stream, cudaEvent_t event);
// Captures that this thread began, and those that forbid every thread the same.
void break_captures_of_thread(cudaError_t status);
void leave_captures(cudaStream_t stream);

}  // namespace gpusizer::emulated

struct CUgraph_st {
  std::vector<gpusizer::emulated::GraphNode> nodes;
};
struct CUgraphExec_st {
  std::vector<gpusizer::emulated::GraphNode> nodes;
  uint64_t launched = 0;
  uint64_t ended = 0;  // launches of one graph follow each other, whatever their streams
  bool destroyed = false;
};
