// SPDX-License-Identifier: Apache-2.0
// Compares the ranks that a program names with those there are.
#include "workloads/backend/streams/check_ranks.hpp"

#include <fmt/format.h>

#include <span>

#include "gpusizer/error.hpp"
#include "workloads/lowering/happens_before.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

[[noreturn]] void refuse(const Program& program, const Operation& op, const std::string& why) {
  throw Error(Fault::usage,
              fmt::format("{} '{}' of program '{}' {}", operation_name(op.kind), op.layer, program.name, why));
}

void check_one(const Program& program, const Operation& op, const Communicator& communicator) {
  const auto* collective = std::get_if<CollectiveAttributes>(&op.attributes);
  if (collective && collective->rank != communicator.rank())
    refuse(program, op, fmt::format("was made for rank {} and this is rank {}", collective->rank, communicator.rank()));
  const std::vector<int32_t> named =
      collective ? collective->ranks : std::vector<int32_t>{std::get<MessageAttributes>(op.attributes).peer};
  for (const int32_t rank : named)
    if (rank < 0 || rank >= communicator.size())
      refuse(program, op, fmt::format("names rank {} of {}", rank, communicator.size()));
  if (!collective && named[0] == communicator.rank()) refuse(program, op, "is a message to itself");
}

}  // namespace

void check_ranks(const Program& program, const Communicator* communicator) {
  for (const Operation& op : program.operations) {
    if (stream_of(op.kind) == compute_stream) continue;
    if (!communicator) refuse(program, op, "needs other ranks, and nothing joins this one to them");
    check_one(program, op, *communicator);
  }
}

}  // namespace gpusizer
