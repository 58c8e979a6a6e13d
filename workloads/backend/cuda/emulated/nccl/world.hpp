// SPDX-License-Identifier: Apache-2.0
// Ranks of an emulated NCCL communicator, and the meetings in which they exchange data. All changes with the machine
// locked (runtime/task.hpp).
#pragma once

#include <nccl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "workloads/backend/cuda/emulated/runtime/task.hpp"

namespace gpusizer::emulated {

enum class Exchange : uint8_t { all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, receive };
const char* name_of(Exchange kind);

// One call of one rank.
struct ExchangeCall {
  Exchange kind = Exchange::all_reduce;
  const void* from = nullptr;
  void* to = nullptr;
  size_t count = 0;  // as NCCL's call states it
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t operation = ncclSum;
  int peer = 0;  // the root, or whom a message is for
};

// All ranks of one exchange, or the two of a message: done by the first of them that runs once all have arrived.
struct Meeting {
  std::vector<ExchangeCall> calls;  // by rank; of a message: sender, receiver
  std::vector<char> arrived;
  int missing = 0;
  bool done = false;
};

struct RankState;

struct World {
  int size = 0;
  int joined = 0;
  std::vector<RankState*> ranks;                                                // null: not here yet, or gone
  std::map<uint64_t, std::shared_ptr<Meeting>> meetings;                        // exchanges of all, by their number
  std::map<std::tuple<int, int, uint64_t>, std::shared_ptr<Meeting>> messages;  // from, to, number
};

struct RankState {
  std::shared_ptr<World> world;
  int rank = 0;
  int device = 0;
  bool aborted = false;
  bool finalized = false;
  ncclResult_t error = ncclSuccess;
  uint64_t next_exchange = 0;
  std::vector<uint64_t> next_sent, next_received;  // by peer
};

// How many elements the call reads and writes at this rank.
size_t elements_read(const ExchangeCall& call, int ranks);
size_t elements_written(const ExchangeCall& call, int ranks);
size_t bytes_of(ncclDataType_t type);  // 0: unknown
// "" or how the calls of a meeting contradict each other.
std::string disagreement(const Meeting& meeting, Exchange kind);
void exchange(const Meeting& meeting, Exchange kind);

// The task of one rank for calls that were made together: a group, or one call alone. Numbers are given when it is
// made.
Task exchange_task(const std::shared_ptr<RankState>& rank, const std::vector<ExchangeCall>& calls);

// Nobody waits for this rank with success any more: it leaves all meetings that have not been held.
void withdraw(const RankState& rank);

ncclResult_t nccl_status(const char* function, ncclResult_t status);

}  // namespace gpusizer::emulated

struct ncclComm {
  std::shared_ptr<gpusizer::emulated::RankState> state;
};
