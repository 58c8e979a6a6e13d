// SPDX-License-Identifier: Apache-2.0
// Instantiated graphs: each launch makes all tasks anew and runs them in any order that their dependencies allow.
#include "workloads/backend/cuda/emulated/runtime/graph.hpp"

#include <algorithm>

#include "workloads/backend/cuda/emulated/runtime/call.hpp"

namespace gpusizer::emulated {
namespace {

bool node_ready(const GraphRun& run, size_t node) {
  if (run.ended[node]) return false;
  const auto& after = run.nodes[node].after;
  if (std::any_of(after.begin(), after.end(), [&](size_t n) { return !run.ended[n]; })) return false;
  return !run.tasks[node].ready || run.tasks[node].ready();
}

std::shared_ptr<GraphRun> start(CUgraphExec_st& exec) {
  auto run = std::make_shared<GraphRun>();
  run->nodes = exec.nodes;
  for (const GraphNode& node : exec.nodes) run->tasks.push_back(node.make());
  run->left = exec.nodes.size();
  run->ended.assign(run->left, 0);
  run->exec = &exec;
  run->launch = exec.launched++;
  return run;
}

Task launch_task(CUgraphExec_st& exec) {
  Task task{"a graph"};
  task.graph = start(exec);
  task.locked = task.always = true;
  task.run = [&exec] {
    if (++exec.ended == exec.launched && exec.destroyed) delete &exec;
  };
  return task;
}

bool same_shape(const std::vector<GraphNode>& a, const std::vector<GraphNode>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const GraphNode& x, const GraphNode& y) { return x.after == y.after && x.device == y.device; });
}

}  // namespace

// Eager takes the first node that may run, lazy the last, random any: a dependency that was not recorded shows.
bool graph_ready(GraphRun& run) {
  if (run.exec->ended != run.launch) return false;
  if (run.left == 0) return true;
  std::vector<size_t> ready;
  for (size_t node = 0; node < run.tasks.size(); ++node)
    if (node_ready(run, node)) ready.push_back(node);
  if (ready.empty()) return false;
  Machine& m = machine();
  if (m.settings.schedule == Schedule::eager) run.next = ready.front();
  if (m.settings.schedule == Schedule::lazy) run.next = ready.back();
  if (m.settings.schedule == Schedule::random) run.next = ready[m.random() % ready.size()];
  return true;
}

void end_of_node(GraphRun& run) {
  if (run.left == 0) return;
  run.ended[run.next] = 1;
  --run.left;
}

}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return runtime_call("cudaGraphInstantiate", [&](Lock&) {
    if (!exec || !graph) return cudaErrorInvalidValue;
    *exec = new CUgraphExec_st;
    (*exec)->nodes = graph->nodes;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return runtime_call("cudaGraphLaunch", [&](Lock& lock) {
    if (!exec || exec->destroyed) return cudaErrorInvalidValue;
    if (resolve(stream)->capture) return cudaErrorStreamCaptureUnsupported;  // real: a child graph; ours never do it
    return put(
        stream, [exec] { return launch_task(*exec); }, lock);
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  return runtime_call("cudaGraphUpload", [&](Lock&) { return exec ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result) {
  return runtime_call("cudaGraphExecUpdate", [&](Lock&) {
    if (!exec || !graph) return cudaErrorInvalidValue;
    const bool fits = same_shape(exec->nodes, graph->nodes);
    if (result) *result = {};
    if (result) result->result = fits ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    if (!fits) return cudaErrorGraphExecUpdateFailure;
    exec->nodes = graph->nodes;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, size_t* count) {
  return runtime_call("cudaGraphGetNodes", [&](Lock&) {
    if (!graph || !count) return cudaErrorInvalidValue;
    *count = graph->nodes.size();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return runtime_call("cudaGraphDestroy", [&](Lock&) {
    delete graph;
    return graph ? cudaSuccess : cudaErrorInvalidValue;
  });
}

// Launches that still run keep what they need.
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return runtime_call("cudaGraphExecDestroy", [&](Lock&) {
    if (!exec) return cudaErrorInvalidValue;
    exec->destroyed = true;
    if (exec->ended == exec->launched) delete exec;
    return cudaSuccess;
  });
}

}  // extern "C"
