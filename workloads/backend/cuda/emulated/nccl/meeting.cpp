// SPDX-License-Identifier: Apache-2.0
// Where ranks wait for each other: a task is ready when all peers of all its calls have come to theirs.
#include <algorithm>

#include "workloads/backend/cuda/emulated/nccl/world.hpp"
#include "workloads/backend/cuda/emulated/runtime/machine.hpp"

namespace gpusizer::emulated {
namespace {

struct Seat {
  std::shared_ptr<Meeting> meeting;
  size_t place = 0;
  Exchange kind = Exchange::all_reduce;
};

// A meeting is looked up by the first that takes a seat in it and forgotten with the last.
template <class Key>
std::shared_ptr<Meeting> find_meeting(std::map<Key, std::shared_ptr<Meeting>>& all, const Key& key, size_t seats) {
  auto& meeting = all[key];
  if (!meeting) {
    meeting = std::make_shared<Meeting>();
    meeting->calls.resize(seats);
    meeting->arrived.assign(seats, 0);
    meeting->missing = static_cast<int>(seats);
  }
  return meeting;
}

Seat take_seat(RankState& rank, const ExchangeCall& call) {
  World& world = *rank.world;
  const auto peer = static_cast<size_t>(call.peer);
  Seat seat{nullptr, static_cast<size_t>(rank.rank), call.kind};
  if (call.kind == Exchange::send) {
    seat.meeting = find_meeting(world.messages, {rank.rank, call.peer, rank.next_sent[peer]++}, 2);
    seat.place = 0;
  } else if (call.kind == Exchange::receive) {
    seat.meeting = find_meeting(world.messages, {call.peer, rank.rank, rank.next_received[peer]++}, 2);
    seat.place = 1;
  } else {
    seat.meeting = find_meeting(world.meetings, rank.next_exchange++, static_cast<size_t>(world.size));
  }
  seat.meeting->calls[seat.place] = call;
  return seat;
}

void forget_done(World& world) {
  std::erase_if(world.meetings, [](const auto& entry) { return entry.second->done; });
  std::erase_if(world.messages, [](const auto& entry) { return entry.second->done; });
}

void arrive(const Seat& seat) {
  char& arrived = seat.meeting->arrived[seat.place];
  if (arrived) return;
  arrived = 1;
  if (--seat.meeting->missing == 0) wake_waiters();
}

void fail_world(World& world, const std::string& message) {
  for (RankState* rank : world.ranks) {
    if (!rank) continue;
    rank->error = ncclInternalError;
    set_broken(rank->device, cudaErrorLaunchFailure, message);
  }
}

// A rank whose device broke may have freed what others are about to read.
bool still_there(const ExchangeCall& call) {
  return (!call.from || find_allocation(call.from)) && (!call.to || find_allocation(call.to));
}

void meet(RankState& rank, const Seat& seat) {
  if (rank.aborted || seat.meeting->done) return;
  seat.meeting->done = true;
  if (const std::string wrong = disagreement(*seat.meeting, seat.kind); !wrong.empty())
    return fail_world(*rank.world, wrong);
  if (!std::all_of(seat.meeting->calls.begin(), seat.meeting->calls.end(), still_there))
    return fail_world(*rank.world, std::string(name_of(seat.kind)) + ": a rank has freed its buffer");
  exchange(*seat.meeting, seat.kind);
}

std::string describe(const RankState& rank, const std::vector<ExchangeCall>& calls) {
  std::string text = name_of(calls[0].kind);
  if (calls.size() > 1) text += " and " + std::to_string(calls.size() - 1) + " more";
  return text + " of rank " + std::to_string(rank.rank) + " of " + std::to_string(rank.world->size);
}

void leave_seat(Meeting& meeting, size_t place) {
  if (meeting.done || !meeting.arrived[place]) return;
  meeting.arrived[place] = 0;
  ++meeting.missing;
}

}  // namespace

void withdraw(const RankState& rank) {
  for (auto& [number, meeting] : rank.world->meetings) leave_seat(*meeting, static_cast<size_t>(rank.rank));
  for (auto& [key, meeting] : rank.world->messages) {
    if (std::get<0>(key) == rank.rank) leave_seat(*meeting, 0);
    if (std::get<1>(key) == rank.rank) leave_seat(*meeting, 1);
  }
}

Task exchange_task(const std::shared_ptr<RankState>& rank, const std::vector<ExchangeCall>& calls) {
  std::vector<Seat> seats;
  for (const ExchangeCall& call : calls) seats.push_back(take_seat(*rank, call));
  Task task{describe(*rank, calls)};
  task.locked = true;
  task.ready = [rank, seats] {
    if (rank->aborted) return true;
    for (const Seat& seat : seats) arrive(seat);
    return std::all_of(seats.begin(), seats.end(), [](const Seat& seat) { return seat.meeting->missing == 0; });
  };
  task.run = [rank, seats] {
    for (const Seat& seat : seats) meet(*rank, seat);
    forget_done(*rank->world);
  };
  return task;
}

}  // namespace gpusizer::emulated
