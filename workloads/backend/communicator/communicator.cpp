// SPDX-License-Identifier: Apache-2.0
// The blocking calls, made of messages on the control channel.
#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {

void Communicator::wait(Ticket ticket) {
  while (!done(ticket)) pause();
}

void Communicator::barrier() { all_gather(""); }

namespace {

std::span<const std::byte> bytes_of(const void* data, size_t size) {
  return {static_cast<const std::byte*>(data), size};
}
std::span<std::byte> bytes_of(void* data, size_t size) { return {static_cast<std::byte*>(data), size}; }

}  // namespace

std::vector<std::string> Communicator::all_gather(std::string_view own) {
  const auto ranks = static_cast<size_t>(size());
  const uint64_t length = own.size();
  std::vector<uint64_t> lengths(ranks, length);
  std::vector<std::string> result(ranks);
  std::vector<Ticket> tickets;
  for (int r = 0; r < size(); ++r) {
    if (r == rank()) continue;
    tickets.push_back(send(r, Channel::control, bytes_of(&length, sizeof length)));
    tickets.push_back(receive(r, Channel::control, bytes_of(&lengths[static_cast<size_t>(r)], sizeof length)));
  }
  for (const Ticket ticket : tickets) wait(ticket);
  tickets.clear();
  for (int r = 0; r < size(); ++r) {
    std::string& text = result[static_cast<size_t>(r)];
    text.resize(lengths[static_cast<size_t>(r)]);
    if (r == rank()) text = own;
    if (r == rank()) continue;
    if (length > 0) tickets.push_back(send(r, Channel::control, bytes_of(own.data(), own.size())));
    if (!text.empty()) tickets.push_back(receive(r, Channel::control, bytes_of(text.data(), text.size())));
  }
  for (const Ticket ticket : tickets) wait(ticket);
  return result;
}

std::string Communicator::broadcast(int root, std::string_view own) {
  return all_gather(rank() == root ? own : std::string_view{})[static_cast<size_t>(root)];
}

}  // namespace gpusizer
