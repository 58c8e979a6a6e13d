// SPDX-License-Identifier: Apache-2.0
// Signs of life of the ranks, and who is to blame when an answer does not come.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {

// Seconds on the machine's steady clock.
double steady_seconds();

// What is known of one rank.
struct RankSigns {
  int64_t step = 0;    // it is in; 0: it has not begun
  double heard = 0;    // steady_seconds() when it last asked or said something
  int waits_for = -1;  // the rank whose message it waits for; -1: it waits for nobody
};

// The rank at the end of the chain "waits for" that begins with `suspect`: a rank that itself is alive (heard from in
// the last `fresh_seconds`) and waits for another one is not the one that is missing. Where they wait in a circle: the
// suspect.
int missing_rank(std::span<const RankSigns> ranks, int suspect, double fresh_seconds);

// "in step 5; the last step it finished is 4", "in step 1, its first", "before its first step"
std::string step_text(int64_t step);

// "rank 1 did not answer for 5 s in step 5; the last step it finished is 4"
CommunicationError silence(std::span<const RankSigns> ranks, int suspect, double timeout_seconds);

// Whether somebody who asks again and again has asked for too long. The time in which nobody asked does not count: a
// rank that was away itself (stopped, or computing) cannot tell that another one is late.
class Patience {
 public:
  explicit Patience(double timeout_seconds) : timeout_(timeout_seconds) {}
  double timeout_seconds() const { return timeout_; }
  // Call at each question. `first_asked` belongs to the message, 0 at the start.
  bool is_over(double now, double& first_asked);

 private:
  double timeout_;
  double last_asked_ = 0, back_since_ = 0;
};

}  // namespace gpusizer
