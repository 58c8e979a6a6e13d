// SPDX-License-Identifier: Apache-2.0
// NCCL's groups: calls between ncclGroupStart() and ncclGroupEnd() of one thread are made together.
#pragma once

#include <functional>

#include "workloads/backend/cuda/emulated/nccl/world.hpp"

namespace gpusizer::emulated {

// Queues the call on the stream now, or at the end of the thread's group.
ncclResult_t call_exchange(ncclComm_t comm, const ExchangeCall& call, cudaStream_t stream);
bool in_group();
// Done at the end of the group, before its exchanges: ranks that one thread makes for several devices.
void at_end_of_group(std::function<ncclResult_t()> action);

}  // namespace gpusizer::emulated
