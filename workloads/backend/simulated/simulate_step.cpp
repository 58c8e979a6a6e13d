// SPDX-License-Identifier: Apache-2.0
// Roles in turn, each as far as it can go without what another one has not done yet.
#include "workloads/backend/simulated/simulate_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "gpusizer/error.hpp"
#include "workloads/backend/simulated/collective_time.hpp"
#include "workloads/backend/simulated/operation_time.hpp"
#include "workloads/lowering/happens_before.hpp"

namespace gpusizer::simulated {
namespace {

CollectiveKind collective_kind(OpKind kind) {
  switch (kind) {
    case OpKind::reduce_scatter: return CollectiveKind::reduce_scatter;
    case OpKind::all_gather: return CollectiveKind::all_gather;
    case OpKind::broadcast: return CollectiveKind::broadcast;
    default: return CollectiveKind::all_reduce;
  }
}

// Those of the program's world, as they lie on the nodes of the real one.
GroupShape shape_of(const std::vector<std::int32_t>& ranks, const World& world, const DeviceDescription& device) {
  const auto per_replica = static_cast<std::int32_t>(world.ranks_per_replica);
  std::set<std::int32_t> replicas, nodes;
  for (const std::int32_t rank : ranks) {
    replicas.insert(rank / per_replica);
    nodes.insert(static_cast<std::int32_t>(rank / device.devices_per_node));
  }
  if (replicas.size() <= 1) return {double(ranks.size()), double(nodes.size())};
  const double all = double(world.devices) / double(per_replica);  // replicas in truth
  const double size = double(ranks.size()) / double(replicas.size()) * all;
  return {size, std::min(size, std::ceil(double(world.devices) / double(device.devices_per_node)))};
}

// A meeting of the simulated roles in one collective, or a message: the k-th of its kind.
struct Meeting {
  std::size_t arrived = 0;
  double begin = 0;
};

// What each operation waits for on its own rank, by the rules of happens_before.hpp: the one before it in its stream, who
// wrote what it reads or overwrites, who read that, and for a receive the computation and the sends that precede it.
std::vector<std::vector<std::int32_t>> predecessors(const Program& program) {
  std::vector<std::vector<std::int32_t>> before(program.operations.size());
  std::vector<std::int32_t> writer(program.tensors.size(), -1);
  std::vector<std::vector<std::int32_t>> readers(program.tensors.size());
  std::array<std::int32_t, stream_limit> last{};
  last.fill(-1);
  std::map<std::int32_t, std::vector<std::int32_t>> sends;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& op = program.operations[i];
    const auto self = static_cast<std::int32_t>(i);
    const auto wait_for = [&](std::int32_t earlier) { if (earlier >= 0) before[i].push_back(earlier); };
    const auto* message = std::get_if<MessageAttributes>(&op.attributes);
    if (op.kind == OpKind::receive) {
      wait_for(last[compute_stream]);
      const auto& sent = sends[message->peer];
      if (const auto got = std::min(static_cast<std::size_t>(message->sends_before), sent.size()); got > 0) wait_for(sent[got - 1]);
    }
    if (op.kind == OpKind::send) sends[message->peer].push_back(self);
    wait_for(std::exchange(last[static_cast<std::size_t>(stream_of(op.kind))], self));
    for (const TensorId id : op.inputs)
      if (id.index >= 0) wait_for(writer[static_cast<std::size_t>(id.index)]);
    for (const TensorId id : op.outputs) {
      if (id.index < 0) continue;
      wait_for(writer[static_cast<std::size_t>(id.index)]);
      for (const std::int32_t reader : readers[static_cast<std::size_t>(id.index)]) wait_for(reader);
    }
    for (const TensorId id : op.inputs)
      if (id.index >= 0) readers[static_cast<std::size_t>(id.index)].push_back(self);
    for (const TensorId id : op.outputs)
      if (id.index >= 0) writer[static_cast<std::size_t>(id.index)] = self, readers[static_cast<std::size_t>(id.index)].clear();
  }
  return before;
}

constexpr double not_yet = -1;

struct Progress {
  std::vector<std::vector<std::int32_t>> before;                     // by operation
  std::array<std::vector<std::int32_t>, stream_limit> streams;       // their operations
  std::array<std::size_t, stream_limit> next{};                      // in each stream
  std::vector<double> end;                                           // by operation
  std::map<std::vector<std::int32_t>, std::size_t> collectives;      // done, by ranks
  std::map<std::int32_t, std::size_t> sent, received;                // by peer
  bool waits = false;                                                // has told the others that it is at a collective
};

class Simulation {
 public:
  Simulation(std::span<const Role> roles, const World& world, const DeviceDescription& device)
      : roles_(roles), world_(world), device_(device), progress_(roles.size()) {
    for (std::size_t r = 0; r < roles.size(); ++r) {
      Progress& p = progress_[r];
      const Program& program = roles[r].step->program;
      p.before = predecessors(program);
      p.end.assign(program.operations.size(), not_yet);
      for (std::size_t i = 0; i < program.operations.size(); ++i)
        p.streams[static_cast<std::size_t>(stream_of(program.operations[i].kind))].push_back(static_cast<std::int32_t>(i));
    }
  }

  SimulatedStep run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t r = 0; r < roles_.size(); ++r) moved = advance(r) || moved;
    }
    for (std::size_t r = 0; r < roles_.size(); ++r)
      for (std::size_t stream = 0; stream < stream_limit; ++stream)
        if (progress_[r].next[stream] < progress_[r].streams[stream].size())
          throw Error(Fault::failed, "the ranks of the simulated step wait for each other", program(r).name, "use another layout");
    return summed();
  }

 private:
  const Program& program(std::size_t r) const { return roles_[r].step->program; }

  // When all that the operation waits for is done; not_yet where something is not.
  double ready(std::size_t r, std::int32_t op) const {
    double at = 0;
    for (const std::int32_t earlier : progress_[r].before[static_cast<std::size_t>(op)]) {
      const double end = progress_[r].end[static_cast<std::size_t>(earlier)];
      if (end == not_yet) return not_yet;
      at = std::max(at, end);
    }
    return at;
  }

  // Each stream as far as it goes; true when anything was done.
  bool advance(std::size_t r) {
    Progress& p = progress_[r];
    bool moved = false;
    for (std::size_t stream = 0; stream < stream_limit; ++stream)
      while (p.next[stream] < p.streams[stream].size()) {
        const bool waited = p.waits;
        if (!step(r, p.streams[stream][p.next[stream]])) {
          moved = moved || p.waits != waited;
          break;
        }
        p.next[stream] += 1;
        moved = true;
      }
    return moved;
  }

  bool step(std::size_t r, std::int32_t index) {
    const Operation& op = program(r).operations[static_cast<std::size_t>(index)];
    const double begin = ready(r, index);
    if (begin == not_yet) return false;
    if (stream_of(op.kind) == collective_stream) return collective(r, index, std::get<CollectiveAttributes>(op.attributes), begin);
    if (const auto* m = std::get_if<MessageAttributes>(&op.attributes)) return message(r, index, *m, begin);
    finish(r, index, begin, begin + operation_time(*roles_[r].step, op, device_).seconds());
    return true;
  }

  bool collective(std::size_t r, std::int32_t index, const CollectiveAttributes& c, double begin) {
    Progress& p = progress_[r];
    const Operation& op = program(r).operations[static_cast<std::size_t>(index)];
    const std::size_t others = static_cast<std::size_t>(std::count_if(roles_.begin(), roles_.end(), [&](const Role& role) {
      return std::binary_search(c.ranks.begin(), c.ranks.end(), role.rank);
    }));
    Meeting& meeting = meetings_[{c.ranks, p.collectives[c.ranks]}];
    if (!p.waits) meeting.arrived += 1, meeting.begin = std::max(meeting.begin, begin), p.waits = true;
    if (meeting.arrived < others) return false;
    double bytes = 0;
    for (const TensorId id : op.inputs) bytes += double(roles_[r].step->tensor_bytes[static_cast<std::size_t>(id.index)]);
    const GroupShape shape = shape_of(c.ranks, world_, device_);
    p.waits = false;
    finish(r, index, meeting.begin, meeting.begin + collective_seconds(collective_kind(op.kind), shape, bytes, device_));
    p.collectives[c.ranks] += 1;
    return true;
  }

  bool message(std::size_t r, std::int32_t index, const MessageAttributes& m, double begin) {
    Progress& p = progress_[r];
    const Operation& op = program(r).operations[static_cast<std::size_t>(index)];
    const std::int32_t own = roles_[r].rank;
    const bool across = own / device_.devices_per_node != m.peer / device_.devices_per_node;
    if (op.kind == OpKind::send) {
      double bytes = 0;
      for (const TensorId id : op.inputs) bytes += double(roles_[r].step->tensor_bytes[static_cast<std::size_t>(id.index)]);
      const double end = begin + message_seconds(bytes, across, device_);
      arrivals_[{own, m.peer, p.sent[m.peer]++}] = end;
      finish(r, index, begin, end);
      return true;
    }
    const auto arrival = arrivals_.find({m.peer, own, p.received[m.peer]});
    if (arrival == arrivals_.end()) return false;
    p.received[m.peer] += 1;
    finish(r, index, begin, std::max(begin, arrival->second));
    return true;
  }

  void finish(std::size_t r, std::int32_t index, double begin, double end) {
    progress_[r].end[static_cast<std::size_t>(index)] = end;
    const std::int32_t stream = stream_of(program(r).operations[static_cast<std::size_t>(index)].kind);
    spans_.push_back({r, index, stream, begin, end});
  }

  SimulatedStep summed() {
    std::vector<SimulatedStep> by_role(roles_.size());
    double last = 0;
    for (const Span& span : spans_) {
      SimulatedStep& own = by_role[span.role];
      const Operation& op = program(span.role).operations[static_cast<std::size_t>(span.operation)];
      last = std::max(last, span.end_seconds);
      if (span.stream != compute_stream) {
        own.communication_seconds += span.end_seconds - span.begin_seconds;
        continue;
      }
      const OperationTime time = operation_time(*roles_[span.role].step, op, device_);
      own.compute_seconds += time.seconds() - time.launch_seconds;
      own.launch_seconds += time.launch_seconds;
      own.floor_seconds += time.floor_seconds;
    }
    const auto busy = [](const SimulatedStep& s) { return s.compute_seconds + s.launch_seconds; };
    SimulatedStep result = *std::max_element(by_role.begin(), by_role.end(),
                                             [&](const auto& left, const auto& right) { return busy(left) < busy(right); });
    result.seconds = last;
    result.exposed_seconds = std::max(0.0, last - busy(result));
    result.spans = std::move(spans_);
    return result;
  }

  std::span<const Role> roles_;
  World world_;
  const DeviceDescription& device_;
  std::vector<Progress> progress_;
  std::map<std::pair<std::vector<std::int32_t>, std::size_t>, Meeting> meetings_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::size_t>, double> arrivals_;  // from, to, number
  std::vector<Span> spans_;
};

}  // namespace

SimulatedStep simulate_step(std::span<const Role> roles, const World& world, const DeviceDescription& device) {
  return Simulation(roles, world, device).run();
}

}  // namespace gpusizer::simulated
