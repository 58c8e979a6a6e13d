// SPDX-License-Identifier: Apache-2.0
// Signal handlers that do nothing but set a flag.
#include "bench/runner/stop_signals.hpp"

#include <atomic>

namespace gpusizer {
namespace {

// A handler has no other way to speak to the program; written by the handler, read by the run.
std::atomic<int> stop_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a handler may not wait");

// The next signal of either kind meets the default action: the program dies. Two that came at once both arrive here, and
// the later one is sent again.
void remember(int signal) {
  int none = 0;
  const bool first = stop_signal.compare_exchange_strong(none, signal);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (!first) std::raise(signal);
}

}  // namespace

StopSignals::StopSignals() {
  stop_signal = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
  action.sa_handler = SIG_IGN;
  action.sa_flags = 0;
  sigaction(SIGXFSZ, &action, &old_file_size_);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  sigaction(SIGXFSZ, &old_file_size_, nullptr);
}

int StopSignals::received() const { return stop_signal; }

}  // namespace gpusizer
