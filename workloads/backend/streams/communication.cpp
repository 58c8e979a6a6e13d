// SPDX-License-Identifier: Apache-2.0
// Collectives and messages of a program's operations.
#include "workloads/backend/streams/communication.hpp"

#include <fmt/format.h>

#include "workloads/backend/streams/delayed_sum.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

class CollectiveTask final : public CommunicationTask {
 public:
  explicit CollectiveTask(CollectiveRun run) : run_(std::move(run)) {}
  void start() override { run_.start(); }
  bool advance() override { return run_.advance(); }

 private:
  CollectiveRun run_;
};

// One message for each tensor, in order.
class MessageTask final : public CommunicationTask {
 public:
  MessageTask(Communicator& communicator, int peer, bool sends, std::vector<std::span<std::byte>> tensors)
      : communicator_(communicator),
        peer_(peer),
        sends_(sends),
        tensors_(std::move(tensors)),
        tickets_(tensors_.size()) {}
  void start() override {
    for (size_t i = 0; i < tensors_.size(); ++i)
      tickets_[i] = sends_ ? communicator_.send(peer_, Channel::point_to_point, tensors_[i])
                           : communicator_.receive(peer_, Channel::point_to_point, tensors_[i]);
    finished_ = 0;
  }
  bool advance() override {
    while (finished_ < tickets_.size() && communicator_.done(tickets_[finished_])) ++finished_;
    return finished_ == tickets_.size();
  }

 private:
  Communicator& communicator_;
  int peer_;
  bool sends_;
  std::vector<std::span<std::byte>> tensors_;
  std::vector<Communicator::Ticket> tickets_;
  size_t finished_ = 0;
};

// Each input with the result that its sum goes to; none where another rank gets it.
std::vector<Summand> summands(const Operation& op, const CommunicationBuffers& b) {
  const auto& a = std::get<CollectiveAttributes>(op.attributes);
  std::vector<Summand> list;
  for (size_t i = 0, result = 0; i < b.inputs.size(); ++i) {
    const bool ours = op.kind == OpKind::all_reduce || a.owners[i] == a.rank;
    list.push_back({b.inputs[i].data(), ours ? b.outputs[result++].data() : nullptr,
                    b.inputs[i].size() / element_bytes(b.element), b.element});
  }
  return list;
}

CollectiveRun collective(const Operation& op, Communicator& communicator, const CommunicationBuffers& b) {
  const auto& a = std::get<CollectiveAttributes>(op.attributes);
  switch (op.kind) {
    case OpKind::all_reduce:
      return all_reduce(communicator, a.ranks, summands(op, b), b.staging);
    case OpKind::reduce_scatter:
      return reduce_to_owners(communicator, a.ranks, a.owners, summands(op, b), b.staging);
    case OpKind::all_gather:
      return all_gather(communicator, a.ranks, b.inputs[0], b.outputs[0]);
    case OpKind::broadcast:
      return broadcast_from_owners(communicator, a.ranks, a.owners, b.outputs);
    default:
      throw Error(Fault::failed, fmt::format("{} is no collective", operation_name(op.kind)), "layer " + op.layer);
  }
}

}  // namespace

size_t communication_staging_bytes(const Operation& op, std::span<const size_t> input_bytes) {
  const auto* a = std::get_if<CollectiveAttributes>(&op.attributes);
  switch (op.kind) {
    case OpKind::all_reduce:
    case OpKind::delayed_all_reduce:
      return all_reduce_staging_bytes(input_bytes.first(given_inputs(op)), a->ranks.size());
    case OpKind::reduce_scatter:
      return reduce_to_owners_staging_bytes(input_bytes, a->owners, a->rank, a->ranks.size());
    default: return 0;
  }
}

std::unique_ptr<CommunicationTask> communication_task(const Operation& op, Communicator& communicator,
                                                      const CommunicationBuffers& b,
                                                      BackgroundCollectives& background) {
  if (op.kind == OpKind::delayed_all_reduce) return std::make_unique<DelayedSum>(op, communicator, b, background);
  if (op.kind != OpKind::send && op.kind != OpKind::receive)
    return std::make_unique<CollectiveTask>(collective(op, communicator, b));
  const bool sends = op.kind == OpKind::send;
  const int peer = std::get<MessageAttributes>(op.attributes).peer;
  return std::make_unique<MessageTask>(communicator, peer, sends, sends ? b.inputs : b.outputs);
}

}  // namespace gpusizer
