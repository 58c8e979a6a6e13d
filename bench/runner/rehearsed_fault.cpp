// SPDX-License-Identifier: Apache-2.0
// One fault at one step.
#include "bench/runner/rehearsed_fault.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include "gpusizer/error.hpp"

namespace gpusizer {

bool rehearse_fault(const std::optional<FaultOptions>& fault, std::int64_t rank, std::int64_t step) {
  if (!fault || fault->rank != rank || fault->step != step) return false;
  if (fault->kind == "throw")
    throw Error(Fault::failed, "a fault was rehearsed", "--inject-fault", "leave it out for a real run");
  while (fault->kind == "stall") std::this_thread::sleep_for(std::chrono::hours(1));
  if (fault->kind == "exit") std::raise(SIGKILL);  // as when the system takes the process: nothing is tidied up
  return fault->kind == "nan";
}

}  // namespace gpusizer
