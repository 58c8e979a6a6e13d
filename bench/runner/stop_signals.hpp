// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM ask a run to end after its current step; a second one ends the program at once.
#pragma once

#include <csignal>

namespace gpusizer {

// While one lives, the two signals only set a flag, and SIGXFSZ is ignored so that a full disk becomes a write error.
// Only one may live at a time: signal handlers belong to the process.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int received() const;  // the signal's number, 0 for none

 private:
  struct sigaction old_interrupt_, old_terminate_, old_file_size_;
};

}  // namespace gpusizer
