// SPDX-License-Identifier: Apache-2.0
// The simulated run: four streams per rank, each of which does its operations in order.
#include "workloads/transforms/check_schedule_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/lowering/happens_before.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

std::vector<ExchangedTensor> tensors_of(const Program& p, const std::vector<TensorId>& ids) {
  std::vector<ExchangedTensor> list;
  for (const TensorId id : ids) list.push_back({p.tensor(id).shape, p.tensor(id).dtype});
  return list;
}

std::vector<Exchange> exchanges_of(const Program& p, int32_t rank) {
  std::vector<Exchange> list;
  for (int32_t i = 0; i < static_cast<int32_t>(p.operations.size()); ++i) {
    const Operation& op = p.operations[static_cast<size_t>(i)];
    if (stream_of(op.kind) == compute_stream) continue;
    Exchange e{.operation = i, .kind = op.kind, .name = operation_name(op.kind), .layer = op.layer, .rank = rank};
    if (const auto* c = std::get_if<CollectiveAttributes>(&op.attributes)) {
      e.rank = c->rank, e.peers = c->ranks, e.owners = c->owners, e.delay = c->delay;
    } else {
      e.peers = {std::get<MessageAttributes>(op.attributes).peer};
    }
    e.tensors = tensors_of(p, op.kind == OpKind::receive ? op.outputs : op.inputs);
    if (e.is_collective()) e.tensors.resize(given_inputs(op));
    list.push_back(std::move(e));
  }
  return list;
}

class Run {
 public:
  Run(std::span<const Program> programs, const Exchanges& all) : programs_(programs), all_(all) {
    for (size_t rank = 0; rank < programs.size(); ++rank) {
      const auto streams = streams_of(programs[rank]);
      order_.emplace_back(programs[rank], streams);
      Lists lists(stream_limit);
      for (size_t i = 0; i < streams.size(); ++i)
        lists[static_cast<size_t>(streams[i])].push_back(static_cast<int32_t>(i));
      lists_.push_back(std::move(lists));
      done_.emplace_back(stream_limit, 0);
      by_operation_.emplace_back(streams.size(), nullptr);
      for (const Exchange& e : all.ranks[rank]) by_operation_[rank][static_cast<size_t>(e.operation)] = &e;
    }
  }

  std::string to_the_end() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t rank = 0; rank < programs_.size(); ++rank)
        for (size_t stream = 0; stream < stream_limit; ++stream)
          while (step(rank, stream)) moved = true;
    }
    return stuck();
  }

 private:
  using Lists = std::vector<std::vector<int32_t>>;

  // The operation that a stream comes to next, or -1 at its end.
  int32_t head(size_t rank, size_t stream) const {
    const auto& list = lists_[rank][stream];
    const auto next = static_cast<size_t>(done_[rank][stream]);
    return next < list.size() ? list[next] : -1;
  }

  bool may_start(size_t rank, int32_t op) const {
    const HappensBefore& order = order_[rank];
    for (size_t s = 0; s < order.stream_count(); ++s)
      if (done_[rank][s] < order.done_before(op, s)) return false;
    return true;
  }

  // Whether the rank stands at this exchange and has all that it reads.
  bool has_come(const Exchange& e, size_t rank) const {
    const auto stream = static_cast<size_t>(order_[rank].stream(e.operation));
    return head(rank, stream) == e.operation && may_start(rank, e.operation);
  }

  // What the other ranks must come to for this exchange to be done.
  std::vector<std::pair<size_t, const Exchange*>> partners(const Exchange& e) const {
    std::vector<std::pair<size_t, const Exchange*>> list;
    if (e.is_collective()) {
      for (const auto& [rank, calls] : all_.collectives.at(e.peers)) list.emplace_back(rank, calls[e.number]);
    } else if (e.kind == OpKind::send) {
      list.emplace_back(e.peers[0], all_.messages.at({e.rank, e.peers[0]}).second[e.number]);
    } else {
      list.emplace_back(e.peers[0], all_.messages.at({e.peers[0], e.rank}).first[e.number]);
    }
    return list;
  }

  void finish(const Exchange& e, size_t rank) { ++done_[rank][static_cast<size_t>(order_[rank].stream(e.operation))]; }

  // An exchange ends for all who take part at once; a delayed sum, whose turn was some steps ago, for each by itself.
  bool step(size_t rank, size_t stream) {
    const int32_t op = head(rank, stream);
    if (op < 0 || !may_start(rank, op)) return false;
    const Exchange* e = by_operation_[rank][static_cast<size_t>(op)];
    if (!e) {
      ++done_[rank][stream];
      return true;
    }
    if (e->delay > 0) {
      finish(*e, rank);
      return true;
    }
    const auto others = partners(*e);
    if (!std::ranges::all_of(others, [&](const auto& other) { return has_come(*other.second, other.first); }))
      return false;
    if (!e->is_collective()) finish(*e, rank);
    for (const auto& [other, theirs] : others) finish(*theirs, other);
    return true;
  }

  std::string stuck() const {
    std::string text;
    for (size_t rank = 0; rank < programs_.size(); ++rank)
      for (size_t stream = 0; stream < stream_limit; ++stream)
        if (const int32_t op = head(rank, stream); op >= 0)
          if (const Exchange* e = by_operation_[rank][static_cast<size_t>(op)]; e && may_start(rank, op))
            text += fmt::format("{}rank {} waits in {} '{}' (operation {}) for {}", text.empty() ? "" : "; ", rank,
                                e->name, e->layer, op, missing(*e));
    return text.empty() ? "" : "the step would never end: " + text;
  }

  // Those who have not come, and where they are to come to.
  std::string missing(const Exchange& e) const {
    std::string text;
    for (const auto& [rank, theirs] : partners(e))
      if (!has_come(*theirs, rank))
        text += fmt::format("{}rank {} to come to {} '{}' (operation {})", text.empty() ? "" : " and ", rank,
                            theirs->name, theirs->layer, theirs->operation);
    return text;
  }

  std::span<const Program> programs_;
  const Exchanges& all_;
  std::vector<HappensBefore> order_;
  std::vector<Lists> lists_;                // by rank and stream: operations
  std::vector<std::vector<int32_t>> done_;  // by rank and stream: how many
  std::vector<ExchangeList> by_operation_;  // by rank and operation; nullptr: computation
};

}  // namespace

Exchanges exchanges(std::span<const Program> ranks) {
  Exchanges all;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    all.ranks.push_back(exchanges_of(ranks[rank], static_cast<int32_t>(rank)));
  for (size_t r = 0; r < all.ranks.size(); ++r)
    for (Exchange& e : all.ranks[r]) {
      const auto rank = static_cast<int32_t>(r);
      auto& list = e.is_collective()        ? all.collectives[e.peers][rank]
                   : e.kind == OpKind::send ? all.messages[{rank, e.peers[0]}].first
                                            : all.messages[{e.peers[0], rank}].second;
      e.number = list.size();
      list.push_back(&e);
    }
  return all;
}

std::string run_to_the_end(std::span<const Program> ranks, const Exchanges& all) {
  return Run(ranks, all).to_the_end();
}

}  // namespace gpusizer
