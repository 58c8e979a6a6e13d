// SPDX-License-Identifier: Apache-2.0
// Threads as ranks.
#include "workloads/backend/tests/ranks.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "workloads/backend/communicator/thread_group.hpp"

namespace gpusizer {

std::vector<std::string> errors_of_ranks(int count, const std::function<void(Communicator&)>& body) {
  constexpr double timeout_seconds = 100;  // sanitizers are slow, and so is a machine that others use too
  ThreadGroup group(count, timeout_seconds);
  std::vector<std::string> errors(static_cast<size_t>(count));
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int rank = 0; rank < count; ++rank) communicators.push_back(group.join(rank));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      const auto communicator = std::move(communicators[static_cast<size_t>(rank)]);
      try {
        body(*communicator);
      } catch (const std::exception& e) {
        errors[static_cast<size_t>(rank)] = e.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

void on_ranks(int count, const std::function<void(Communicator&)>& body) {
  const std::vector<std::string> errors = errors_of_ranks(count, body);
  for (size_t rank = 0; rank < errors.size(); ++rank) EXPECT_EQ(errors[rank], "") << "rank " << rank;
}

}  // namespace gpusizer
