// SPDX-License-Identifier: Apache-2.0
// Tests of CUDA graphs on the emulated device: what a capture records, refuses, and runs again and again.
#include "workloads/backend/cuda/emulated/tests/device_buffer.hpp"
#include "workloads/backend/cuda/emulated/tests/kernels.hpp"

namespace gpusizer::emulated {
namespace {

class Graphs : public OnEmulatedDevice {
 protected:
  void SetUp() override {
    OnEmulatedDevice::SetUp();
    open();
  }
  void TearDown() override {
    close();
    OnEmulatedDevice::TearDown();
  }
  void open() {
    ASSERT_EQ(cudaStreamCreateWithFlags(&main_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&side_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&fork_, cudaEventDisableTiming), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&join_, cudaEventDisableTiming), cudaSuccess);
  }
  void close() {
    EXPECT_EQ(cudaEventDestroy(fork_), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(join_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(side_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(main_), cudaSuccess);
  }

  // a += 1 on the main stream; b += a on the side stream; a += b on the main one, joined by events.
  cudaGraph_t capture_fork_and_join(const DeviceFloats& a, const DeviceFloats& b, const DeviceFloats& ones) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(main_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(add_scaled(a.get(), ones.get(), 1, 4, main_), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(fork_, main_), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(side_, fork_, 0), cudaSuccess);
    EXPECT_EQ(add_scaled(b.get(), a.get(), 1, 4, side_), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(join_, side_), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(main_, join_, 0), cudaSuccess);
    EXPECT_EQ(add_scaled(a.get(), b.get(), 1, 4, main_), cudaSuccess);
    EXPECT_EQ(cudaStreamEndCapture(main_, &graph), cudaSuccess);
    return graph;
  }

  cudaStream_t main_ = nullptr, side_ = nullptr;
  cudaEvent_t fork_ = nullptr, join_ = nullptr;
};

TEST_F(Graphs, RunAcrossStreamsInEverySchedule) {
  close();
  for (const Settings& settings : every_schedule()) {
    configure(settings);
    open();
    {
      const DeviceFloats a(std::vector<float>(4, 0.0f)), b(std::vector<float>(4, 0.0f)),
          ones(std::vector<float>(4, 1.0f));
      const cudaGraph_t graph = capture_fork_and_join(a, b, ones);
      size_t count = 0;
      EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
      EXPECT_EQ(count, 3u);
      EXPECT_EQ(a.values()[0], 0.0f);  // nothing has run yet
      cudaGraphExec_t exec = nullptr;
      ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(exec, i == 1 ? side_ : main_), cudaSuccess);
      // (a, b): (2, 1), (7, 4), (20, 12)
      EXPECT_EQ(a.values()[3], 20.0f);
      EXPECT_EQ(b.values()[3], 12.0f);
      EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
    close();
  }
  open();
}

TEST_F(Graphs, KeepWorkForDestroyedOnes) {
  const DeviceFloats a(std::vector<float>(4, 0.0f)), b(std::vector<float>(4, 0.0f)), ones(std::vector<float>(4, 1.0f));
  const cudaGraph_t graph = capture_fork_and_join(a, b, ones);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, main_), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(a.values()[0], 2.0f);
}

TEST_F(Graphs, AreUpdatedOnlyToTheSameShape) {
  const DeviceFloats a(std::vector<float>(4, 0.0f)), b(std::vector<float>(4, 0.0f)), ones(std::vector<float>(4, 1.0f));
  const cudaGraph_t graph = capture_fork_and_join(a, b, ones), swapped = capture_fork_and_join(b, a, ones);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  cudaGraphExecUpdateResultInfo result;
  ASSERT_EQ(cudaGraphExecUpdate(exec, swapped, &result), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, main_), cudaSuccess);
  EXPECT_EQ(b.values()[0], 2.0f);
  cudaGraph_t other = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(main_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(a.get(), 0, 4, main_), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(main_, &other), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, other, &result), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(cudaGetLastError(), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  for (const cudaGraph_t g : {graph, swapped, other}) EXPECT_EQ(cudaGraphDestroy(g), cudaSuccess);
}

TEST_F(Graphs, BreakOnWhatCannotBeCaptured) {
  void* memory = nullptr;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(main_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamSynchronize(main_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(main_, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  cudaGetErrorName(cudaErrorStreamCaptureUnsupported);
  cudaGetErrorName(cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, RefuseAStreamThatWasNotJoined) {
  const DeviceFloats a(std::vector<float>(4, 0.0f));
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(main_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(fork_, main_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(side_, fork_, 0), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(a.get(), 0, 4, side_), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(main_, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureUnjoined);
}

TEST_F(Graphs, RefuseWorkFromOutsideTheCapture) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaEventRecord(join_, side_), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(main_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(main_, join_, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(cudaStreamEndCapture(main_, &graph), cudaErrorStreamCaptureInvalidated);
  cudaGetErrorName(cudaErrorStreamCaptureIsolation);
  cudaGetErrorName(cudaErrorStreamCaptureInvalidated);
}

}  // namespace
}  // namespace gpusizer::emulated
