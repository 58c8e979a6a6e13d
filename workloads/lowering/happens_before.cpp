// SPDX-License-Identifier: Apache-2.0
// Builds the vector clocks.
#include "workloads/lowering/happens_before.hpp"

#include <algorithm>
#include <map>

namespace gpusizer {

std::vector<int32_t> streams_of(const Program& program) {
  std::vector<int32_t> streams;
  for (const Operation& op : program.operations) streams.push_back(stream_of(op.kind));
  return streams;
}

int32_t stream_of(OpKind kind) {
  switch (kind) {
    case OpKind::all_reduce:
    case OpKind::delayed_all_reduce:
    case OpKind::reduce_scatter:
    case OpKind::all_gather:
    case OpKind::broadcast: return collective_stream;
    case OpKind::send: return send_stream;
    case OpKind::receive: return receive_stream;
    default: return compute_stream;
  }
}

bool goes_on_between_steps(OpKind kind) { return kind == OpKind::delayed_all_reduce; }

// What `earlier` knew when it started is known now, and that it is done.
void HappensBefore::join(size_t op, size_t earlier) {
  for (size_t s = 0; s < stream_count_; ++s)
    clocks_[op * stream_count_ + s] = std::max(clocks_[op * stream_count_ + s], clocks_[earlier * stream_count_ + s]);
  int32_t& own = clocks_[op * stream_count_ + static_cast<size_t>(streams_[earlier])];
  own = std::max(own, numbers_[earlier] + 1);
}

HappensBefore::HappensBefore(const Program& program, std::span<const int32_t> streams)
    : streams_(streams.begin(), streams.end()), numbers_(streams.size(), 0) {
  for (const int32_t s : streams_) stream_count_ = std::max(stream_count_, static_cast<size_t>(s) + 1);
  clocks_.assign(streams_.size() * stream_count_, 0);
  std::vector<int32_t> last_of_stream(stream_count_, -1), last_writer(program.tensors.size(), -1);
  std::vector<std::vector<int32_t>> read_since(program.tensors.size());
  int32_t last_computation = -1;
  std::map<int32_t, std::vector<int32_t>> sends;  // by receiving rank
  for (size_t op = 0; op < program.operations.size(); ++op) {
    const auto wait_for = [&](int32_t earlier) { if (earlier >= 0) join(op, static_cast<size_t>(earlier)); };
    int32_t& previous = last_of_stream[static_cast<size_t>(streams_[op])];
    numbers_[op] = previous < 0 ? 0 : numbers_[static_cast<size_t>(previous)] + 1;
    wait_for(previous);
    previous = static_cast<int32_t>(op);
    const OpKind kind = program.operations[op].kind;
    const auto* message = std::get_if<MessageAttributes>(&program.operations[op].attributes);
    if (kind == OpKind::receive) {
      wait_for(last_computation);
      const auto& sent = sends[message->peer];
      const size_t got = std::min(static_cast<size_t>(message->sends_before), sent.size());
      if (got > 0) wait_for(sent[got - 1]);
    }
    if (kind == OpKind::send) sends[message->peer].push_back(static_cast<int32_t>(op));
    if (stream_of(kind) == compute_stream) last_computation = static_cast<int32_t>(op);
    for (const TensorId id : program.operations[op].inputs) wait_for(last_writer[static_cast<size_t>(id.index)]);
    for (const TensorId id : program.operations[op].outputs) {
      wait_for(last_writer[static_cast<size_t>(id.index)]);
      for (const int32_t reader : read_since[static_cast<size_t>(id.index)]) wait_for(reader);
    }
    for (const TensorId id : program.operations[op].inputs)
      read_since[static_cast<size_t>(id.index)].push_back(static_cast<int32_t>(op));
    for (const TensorId id : program.operations[op].outputs) {
      last_writer[static_cast<size_t>(id.index)] = static_cast<int32_t>(op);
      read_since[static_cast<size_t>(id.index)].clear();
    }
  }
}

}  // namespace gpusizer
