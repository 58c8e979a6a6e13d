// SPDX-License-Identifier: Apache-2.0
// The exchanges of NCCL, checked, grouped and queued.
#include "workloads/backend/cuda/emulated/nccl/group.hpp"

#include <utility>

namespace gpusizer::emulated {
namespace {

struct QueuedCall {
  ncclComm_t comm;
  cudaStream_t stream;
  std::vector<ExchangeCall> calls;
};

struct OpenGroup {
  int depth = 0;
  std::vector<QueuedCall> queued;  // one entry for each communicator and stream, in the order of first use
  std::vector<std::function<ncclResult_t()>> actions;
};

OpenGroup& open_group() {
  thread_local OpenGroup group;
  return group;
}

bool buffer_fits(const void* at, size_t elements, ncclDataType_t type, int device) {
  return elements == 0 || is_device_memory(at, elements * bytes_of(type), device);
}

ncclResult_t check_exchange(ncclComm_t comm, const ExchangeCall& call, cudaStream_t stream) {
  if (!comm || !comm->state || comm->state->finalized) return ncclInvalidArgument;
  const RankState& rank = *comm->state;
  const int size = rank.world->size;
  if (rank.aborted || rank.world->joined < size) return ncclInvalidUsage;
  if (!bytes_of(call.type) || call.peer < 0 || call.peer >= size) return ncclInvalidArgument;
  if (device_of(stream) != rank.device) return ncclInvalidUsage;
  const bool writes = call.kind != Exchange::reduce || call.peer == rank.rank;
  if (!buffer_fits(call.from, elements_read(call, size), call.type, rank.device) ||
      (writes && !buffer_fits(call.to, elements_written(call, size), call.type, rank.device)))
    return ncclInvalidArgument;
  return ncclSuccess;
}

ncclResult_t queue_calls(const QueuedCall& queued) {
  const auto state = queued.comm->state;
  const auto status = enqueue(name_of(queued.calls[0].kind), queued.stream,
                              [state, calls = queued.calls] { return exchange_task(state, calls); });
  return status == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

void add_to_group(OpenGroup& group, ncclComm_t comm, cudaStream_t stream, const ExchangeCall& call) {
  for (QueuedCall& queued : group.queued)
    if (queued.comm == comm && queued.stream == stream) return queued.calls.push_back(call);
  group.queued.push_back({comm, stream, {call}});
}

ncclResult_t end_group() {
  OpenGroup group = std::exchange(open_group(), {});
  for (const auto& action : group.actions)
    if (const ncclResult_t status = action()) return status;
  for (const QueuedCall& queued : group.queued)
    if (const ncclResult_t status = queue_calls(queued)) return status;
  return ncclSuccess;
}

}  // namespace

bool in_group() { return open_group().depth > 0; }

void at_end_of_group(std::function<ncclResult_t()> action) { open_group().actions.push_back(std::move(action)); }

ncclResult_t call_exchange(ncclComm_t comm, const ExchangeCall& call, cudaStream_t stream) {
  const char* function = name_of(call.kind);
  stream = resolved_stream(stream);  // of the device that is current now, not at the end of the group
  if (const int planted = planted_status(function)) return nccl_status(function, static_cast<ncclResult_t>(planted));
  if (const ncclResult_t wrong = check_exchange(comm, call, stream)) return nccl_status(function, wrong);
  if (in_group()) {
    add_to_group(open_group(), comm, stream, call);
    return ncclSuccess;
  }
  return nccl_status(function, queue_calls({comm, stream, {call}}));
}

}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

ncclResult_t ncclGroupStart() {
  ++open_group().depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (open_group().depth == 0) return nccl_status("ncclGroupEnd", ncclInvalidUsage);
  if (--open_group().depth > 0) return ncclSuccess;
  return nccl_status("ncclGroupEnd", end_group());
}

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return call_exchange(comm, {Exchange::all_reduce, sendbuff, recvbuff, count, datatype, op}, stream);
}

ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return call_exchange(comm, {Exchange::reduce, sendbuff, recvbuff, count, datatype, op, root}, stream);
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  const void* from = comm && comm->state && comm->state->rank != root ? recvbuff : sendbuff;  // others send nothing
  return call_exchange(comm, {Exchange::broadcast, from, recvbuff, count, datatype, ncclSum, root}, stream);
}

ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return ncclBroadcast(buff, buff, count, datatype, root, comm, stream);
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t stream) {
  return call_exchange(comm, {Exchange::all_gather, sendbuff, recvbuff, sendcount, datatype}, stream);
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return call_exchange(comm, {Exchange::reduce_scatter, sendbuff, recvbuff, recvcount, datatype, op}, stream);
}

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call_exchange(comm, {Exchange::send, sendbuff, nullptr, count, datatype, ncclSum, peer}, stream);
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call_exchange(comm, {Exchange::receive, nullptr, recvbuff, count, datatype, ncclSum, peer}, stream);
}

}  // extern "C"
