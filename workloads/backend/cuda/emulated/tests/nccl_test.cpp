// SPDX-License-Identifier: Apache-2.0
// Tests of the emulated NCCL: ranks as threads and as devices of one thread, in every schedule, and ranks that are
// lost.
#include <nccl.h>

#include <functional>
#include <thread>

#include "workloads/backend/cuda/emulated/tests/device_buffer.hpp"

namespace gpusizer::emulated {
namespace {

struct Rank {
  int rank, size;
  ncclComm_t comm;
  cudaStream_t stream;
};

// Runs `body` on a thread and a device for each rank.
void on_ranks(int size, const std::function<void(const Rank&)>& body, cudaError_t at_end = cudaSuccess) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<std::thread> threads;
  for (int i = 0; i < size; ++i)
    threads.emplace_back([&, i] {
      Rank rank{i, size, nullptr, nullptr};
      EXPECT_EQ(cudaSetDevice(i), cudaSuccess);
      EXPECT_EQ(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking), cudaSuccess);
      EXPECT_EQ(ncclCommInitRank(&rank.comm, size, id, i), ncclSuccess);
      body(rank);
      EXPECT_EQ(ncclCommDestroy(rank.comm), ncclSuccess);
      EXPECT_EQ(cudaStreamDestroy(rank.stream), at_end);
    });
  for (std::thread& thread : threads) thread.join();
}

std::vector<float> synced(const DeviceFloats& x, cudaStream_t stream) {
  std::vector<float> values(x.size());
  EXPECT_EQ(cudaMemcpyAsync(values.data(), x.get(), values.size() * 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  return values;
}

using Nccl = OnEmulatedDevice;

TEST_F(Nccl, ReducesGathersAndScattersInEverySchedule) {
  for (Settings settings : every_schedule()) {
    settings.devices = 3;
    configure(settings);
    on_ranks(3, [](const Rank& r) {
      const auto own = static_cast<float>(r.rank + 1);
      const DeviceFloats x({own, 10 * own, 100 * own}), sum(3), all(9), share(1);
      EXPECT_EQ(ncclAllReduce(x.get(), sum.get(), 3, ncclFloat, ncclSum, r.comm, r.stream), ncclSuccess);
      EXPECT_EQ(ncclAllGather(x.get(), all.get(), 3, ncclFloat, r.comm, r.stream), ncclSuccess);
      EXPECT_EQ(ncclReduceScatter(x.get(), share.get(), 1, ncclFloat, ncclAvg, r.comm, r.stream), ncclSuccess);
      EXPECT_EQ(synced(sum, r.stream), (std::vector<float>{6, 60, 600}));
      EXPECT_EQ(synced(all, r.stream), (std::vector<float>{1, 10, 100, 2, 20, 200, 3, 30, 300}));
      EXPECT_EQ(synced(share, r.stream), (std::vector<float>{r.rank == 0 ? 2.0f : r.rank == 1 ? 20.0f : 200.0f}));
      EXPECT_EQ(ncclBroadcast(x.get(), sum.get(), 3, ncclFloat, 2, r.comm, r.stream), ncclSuccess);
      EXPECT_EQ(ncclReduce(x.get(), x.get(), 3, ncclFloat, ncclMax, 1, r.comm, r.stream), ncclSuccess);
      EXPECT_EQ(synced(sum, r.stream), (std::vector<float>{3, 30, 300}));
      EXPECT_EQ(synced(x, r.stream)[0], r.rank == 1 ? 3.0f : own);
    });
  }
}

TEST_F(Nccl, SendsInARingWithinAGroup) {
  configure({.devices = 4, .schedule = Schedule::random});
  on_ranks(4, [](const Rank& r) {
    const DeviceFloats own(std::vector<float>{static_cast<float>(r.rank)}), from_left(1);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclSend(own.get(), 1, ncclFloat, (r.rank + 1) % r.size, r.comm, r.stream), ncclSuccess);
    EXPECT_EQ(ncclRecv(from_left.get(), 1, ncclFloat, (r.rank + 3) % r.size, r.comm, r.stream), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(synced(from_left, r.stream)[0], static_cast<float>((r.rank + 3) % r.size));
  });
}

TEST_F(Nccl, MeetsAnewAtEachLaunchOfAGraph) {
  configure({.devices = 2});
  on_ranks(2, [](const Rank& r) {
    const DeviceFloats x(std::vector<float>{1.0f});
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(r.stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(ncclAllReduce(x.get(), x.get(), 1, ncclFloat, ncclSum, r.comm, r.stream), ncclSuccess);
    EXPECT_EQ(cudaStreamEndCapture(r.stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(cudaGraphLaunch(exec, r.stream), cudaSuccess);
    EXPECT_EQ(synced(x, r.stream)[0], 32.0f);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  });
}

TEST_F(Nccl, ServesSeveralDevicesOfOneThread) {
  configure({.devices = 2});
  ncclComm_t comms[2];
  ASSERT_EQ(ncclCommInitAll(comms, 2, nullptr), ncclSuccess);
  {
    const DeviceFloats x(std::vector<float>{3.0f});
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    const DeviceFloats y(std::vector<float>{4.0f});
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(y.get(), y.get(), 1, ncclFloat, ncclProd, comms[1], nullptr), ncclSuccess);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(ncclAllReduce(x.get(), x.get(), 1, ncclFloat, ncclProd, comms[0], nullptr), ncclSuccess);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(x.values()[0], 12.0f);
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    EXPECT_EQ(y.values()[0], 12.0f);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  }
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST_F(Nccl, EndsWhatWaitsForARankThatNeverJoins) {
  configure({.devices = 2, .stall_seconds = 0.05});
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
  ncclResult_t error = ncclSuccess;
  ASSERT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
  EXPECT_EQ(error, ncclInProgress);
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 1), ncclSuccess);  // the other seat: both have come by now
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 0), ncclSystemError);
  EXPECT_STREQ(ncclGetErrorString(ncclSystemError), "unhandled system error");
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

TEST_F(Nccl, AbortsAnExchangeThatAPeerNeverReaches) {
  configure({.devices = 2});
  on_ranks(2, [](const Rank& r) {
    if (r.rank == 1) return;
    const DeviceFloats x(std::vector<float>{1.0f});
    ncclUniqueId id;
    EXPECT_EQ(ncclAllReduce(x.get(), x.get(), 1, ncclFloat, ncclSum, r.comm, r.stream), ncclSuccess);
    EXPECT_EQ(cudaStreamQuery(r.stream), cudaErrorNotReady);
    EXPECT_EQ(cudaStreamQuery(r.stream), cudaErrorNotReady);
    EXPECT_EQ(ncclCommAbort(r.comm), ncclSuccess);
    EXPECT_EQ(cudaStreamSynchronize(r.stream), cudaSuccess);
    EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    EXPECT_EQ(ncclCommInitRank(const_cast<ncclComm_t*>(&r.comm), 1, id, 0), ncclSuccess);  // for the end to destroy
  });
}

TEST_F(Nccl, ReportsRanksThatDisagree) {
  expect_broken();
  configure({.devices = 2});
  on_ranks(
      2,
      [](const Rank& r) {
        const DeviceFloats x(4);
        EXPECT_EQ(ncclAllReduce(x.get(), x.get(), r.rank == 0 ? 4 : 3, ncclFloat, ncclSum, r.comm, r.stream),
                  ncclSuccess);
        EXPECT_EQ(cudaStreamSynchronize(r.stream), cudaErrorLaunchFailure);
        ncclResult_t error = ncclSuccess;
        EXPECT_EQ(ncclCommGetAsyncError(r.comm, &error), ncclSuccess);
        EXPECT_EQ(error, ncclInternalError);
      },
      cudaErrorLaunchFailure);
  clear_errors();
}

TEST_F(Nccl, RefusesHostMemoryAndUnknownRoots) {
  configure({.devices = 1});
  on_ranks(1, [](const Rank& r) {
    float host = 0;
    const DeviceFloats x(1);
    EXPECT_EQ(ncclAllReduce(&host, x.get(), 1, ncclFloat, ncclSum, r.comm, r.stream), ncclInvalidArgument);
    EXPECT_EQ(ncclBroadcast(x.get(), x.get(), 1, ncclFloat, 1, r.comm, r.stream), ncclInvalidArgument);
    EXPECT_STREQ(ncclGetErrorString(ncclInvalidArgument), "invalid argument");
  });
}

}  // namespace
}  // namespace gpusizer::emulated
