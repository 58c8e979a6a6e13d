// SPDX-License-Identifier: Apache-2.0
// NCCL communicators between threads of one process: made, asked, aborted and destroyed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "workloads/backend/cuda/emulated/nccl/group.hpp"
#include "workloads/backend/cuda/emulated/runtime/machine.hpp"

namespace gpusizer::emulated {
namespace {

constexpr std::array<const char*, ncclNumResults> nccl_names = {"no error",
                                                                "unhandled cuda error",
                                                                "unhandled system error",
                                                                "internal error",
                                                                "invalid argument",
                                                                "invalid usage",
                                                                "remote process exited or there was a network error",
                                                                "NCCL operation in progress"};

// Worlds by their unique id, until all ranks have joined.
std::map<std::string, std::shared_ptr<World>>& open_worlds() {
  static std::map<std::string, std::shared_ptr<World>> worlds;
  return worlds;
}

// With the machine locked.
ncclResult_t join(ncclComm_t comm, int size, const std::string& id, int rank, int device) {
  auto& world = open_worlds()[id];
  if (!world) {
    world = std::make_shared<World>();
    world->size = size;
    world->ranks.assign(static_cast<size_t>(size), nullptr);
  }
  if (world->size != size || world->ranks[static_cast<size_t>(rank)]) return ncclInvalidUsage;
  auto state = std::make_shared<RankState>();
  state->world = world;
  state->rank = rank;
  state->device = device;
  state->next_sent.assign(static_cast<size_t>(size), 0);
  state->next_received.assign(static_cast<size_t>(size), 0);
  world->ranks[static_cast<size_t>(rank)] = state.get();
  comm->state = state;
  if (++state->world->joined == size) {
    open_worlds().erase(id);
    wake_waiters();
  }
  return ncclSuccess;
}

std::string missing_ranks(const World& world) {
  std::string missing;
  for (size_t rank = 0; rank < world.ranks.size(); ++rank)
    if (!world.ranks[rank]) missing.append(missing.empty() ? "" : ", ").append(std::to_string(rank));
  return missing;
}

// The real call waits forever; this one as long as nothing may stand still.
ncclResult_t wait_for_all(const RankState& rank, Lock& lock) {
  Machine& m = machine();
  const auto limit = std::chrono::duration<double>(m.settings.stall_seconds);
  const World& world = *rank.world;
  if (m.changed.wait_for(lock, limit, [&] { return world.joined == world.size || rank.aborted; }))
    return rank.aborted ? ncclInternalError : ncclSuccess;
  std::fprintf(stderr, "[emulated NCCL] rank %d waits in vain for ranks %s\n", rank.rank, missing_ranks(world).c_str());
  return ncclSystemError;
}

ncclResult_t init(ncclComm_t* comm, int size, const ncclUniqueId& id, int rank, bool blocking) {
  if (!comm || size < 1 || rank < 0 || rank >= size) return ncclInvalidArgument;
  *comm = new ncclComm;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return ncclUnhandledCudaError;
  Lock lock = lock_machine();
  const std::string name(id.internal, sizeof id.internal);
  if (const ncclResult_t status = join(*comm, size, name, rank, device)) return status;
  const auto state = (*comm)->state;
  if (!blocking) return state->world->joined == size ? ncclSuccess : ncclInProgress;
  if (!in_group()) return wait_for_all(*state, lock);
  at_end_of_group([state] {
    Lock at_end = lock_machine();
    return wait_for_all(*state, at_end);
  });
  return ncclSuccess;
}

void leave(RankState& rank, bool abort) {
  const Lock lock = lock_machine();
  rank.aborted |= abort;
  rank.finalized = true;
  if (abort) withdraw(rank);
  rank.world->ranks[static_cast<size_t>(rank.rank)] = nullptr;
  wake_waiters();
}

ncclResult_t asynchronous_error(const RankState& rank) {
  if (const int planted = planted_status("ncclAsyncError")) return static_cast<ncclResult_t>(planted);
  const Lock lock = lock_machine();
  if (rank.error != ncclSuccess) return rank.error;
  if (rank.world->joined < rank.world->size) return ncclInProgress;
  return machine().broken[static_cast<size_t>(rank.device)] != cudaSuccess ? ncclUnhandledCudaError : ncclSuccess;
}

}  // namespace

ncclResult_t nccl_status(const char* function, ncclResult_t status) {
  if (status != ncclSuccess && status != ncclInProgress)
    note_returned_error(function, status, nccl_names[static_cast<size_t>(status)]);
  return status;
}

}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId) {
  const Lock lock = lock_machine();
  std::memset(uniqueId, 0, sizeof *uniqueId);
  std::snprintf(uniqueId->internal, sizeof uniqueId->internal, "emulated world %llu",
                static_cast<unsigned long long>(++machine().ids));
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  const char* name = nccl_names[std::min<size_t>(static_cast<size_t>(result), nccl_names.size() - 1)];
  note_asked(name);
  return name;
}

const char* ncclGetLastError(ncclComm_t) { return "the emulated NCCL keeps no last error"; }

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config) {
  constexpr const char* function = "ncclCommInitRank";
  if (const int planted = planted_status(function)) return nccl_status(function, static_cast<ncclResult_t>(planted));
  const bool blocking = !config || config->blocking != 0;  // undefined means blocking
  return nccl_status(function, init(comm, nranks, commId, rank, blocking));
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  return ncclCommInitRankConfig(comm, nranks, commId, rank, nullptr);
}

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  int before = 0;
  if (cudaGetDevice(&before) != cudaSuccess) return nccl_status("ncclCommInitAll", ncclUnhandledCudaError);
  ncclGroupStart();
  ncclResult_t status = ncclSuccess;
  for (int i = 0; i < ndev && status == ncclSuccess; ++i) {
    if (cudaSetDevice(devlist ? devlist[i] : i) != cudaSuccess) status = ncclInvalidArgument;
    if (status == ncclSuccess) status = ncclCommInitRank(comm + i, ndev, id, i);
  }
  const ncclResult_t ended = ncclGroupEnd();
  if (cudaSetDevice(before) != cudaSuccess) status = ncclUnhandledCudaError;
  return nccl_status("ncclCommInitAll", status != ncclSuccess ? status : ended);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (!comm || !comm->state) return nccl_status("ncclCommFinalize", ncclInvalidArgument);
  const Lock lock = lock_machine();
  comm->state->finalized = true;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!comm || !comm->state) return nccl_status("ncclCommDestroy", ncclInvalidArgument);
  leave(*comm->state, false);
  delete comm;
  return ncclSuccess;
}

// Exchanges of this rank that still wait are over; what they should have written is not there.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (!comm) return nccl_status("ncclCommAbort", ncclInvalidArgument);
  if (comm->state) leave(*comm->state, true);
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
  if (!comm || !comm->state || !asyncError) return nccl_status("ncclCommGetAsyncError", ncclInvalidArgument);
  *asyncError = asynchronous_error(*comm->state);
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  *count = comm->state->world->size;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  *rank = comm->state->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  *device = comm->state->device;
  return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void** ptr, size_t size) {
  return nccl_status("ncclMemAlloc", cudaMalloc(ptr, size) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError);
}

ncclResult_t ncclMemFree(void* ptr) {
  return nccl_status("ncclMemFree", cudaFree(ptr) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError);
}

}  // extern "C"
