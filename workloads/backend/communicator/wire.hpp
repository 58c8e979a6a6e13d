// SPDX-License-Identifier: Apache-2.0
// A communicator that behaves as if its ranks were joined by a slower network: for studying overlap on one machine.
#pragma once

#include <memory>

#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {

struct WireSpeed {
  double latency_seconds = 0;
  double bytes_per_second = 0;  // 0: no limit
};

// Each message arrives no earlier than latency + bytes / bytes_per_second after it was sent; the messages of one sender
// share its outgoing link one after the other. The delay uses no processor time. The ranks must be on one machine,
// whose clock they share, and all of them must be wrapped with the same speed. Throws Error(usage) for a negative or
// endless time.
std::unique_ptr<Communicator> make_wire(std::unique_ptr<Communicator> inner, const WireSpeed& speed);

}  // namespace gpusizer
