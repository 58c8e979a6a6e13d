// SPDX-License-Identifier: Apache-2.0
// Runs one piece of code on several ranks, each in its own thread, and keeps what each of them throws.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "workloads/backend/communicator/thread_group.hpp"

namespace gpusizer::testing {

using Sentences = std::vector<std::string>;
inline constexpr double patient = 60;  // seconds: longer than any test needs

template <typename T>
std::span<const std::byte> read_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <typename T>
std::span<std::byte> write_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

// The sentence with which each rank ended; empty: it threw nothing. A rank that throws something of its own aborts.
inline Sentences run_ranks(ThreadGroup& group, int size, const std::function<void(Communicator&)>& body) {
  Sentences sentences(static_cast<size_t>(size));
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (int r = 0; r < size; ++r) ranks.push_back(group.join(r));
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r)
    threads.emplace_back([&, r, own = std::move(ranks[static_cast<size_t>(r)])] {
      try {
        body(*own);
      } catch (const std::exception& e) {
        own->abort(e.what());
        sentences[static_cast<size_t>(r)] = e.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return sentences;
}

inline Sentences run_ranks(int size, double timeout_seconds, const std::function<void(Communicator&)>& body) {
  ThreadGroup group(size, timeout_seconds);
  return run_ranks(group, size, body);
}

}  // namespace gpusizer::testing
