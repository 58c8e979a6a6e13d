// SPDX-License-Identifier: Apache-2.0
// From a communication operation and the memory of its tensors to something that can be started and moved on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "workloads/backend/communicator/collectives.hpp"
#include "workloads/backend/streams/background_collectives.hpp"
#include "workloads/backend/streams/stream_runner.hpp"
#include "workloads/program/operation.hpp"

namespace gpusizer {

// Where the operation's tensors are, in the order of its inputs and outputs. They must lie alike on all ranks, and stay
// where they are.
struct CommunicationBuffers {
  std::vector<std::span<std::byte>> inputs, outputs;
  std::span<std::byte> staging;    // communication_staging_bytes()
  Element element = Element::f32;  // what sums are taken of
};

// Scratch memory that the operation needs, from the bytes of its inputs. That of delayed sums is in use between steps;
// one for all of them will do.
size_t communication_staging_bytes(const Operation& op, std::span<const size_t> input_bytes);

std::unique_ptr<CommunicationTask> communication_task(const Operation& op, Communicator& communicator,
                                                      const CommunicationBuffers& buffers,
                                                      BackgroundCollectives& background);

}  // namespace gpusizer
