// SPDX-License-Identifier: Apache-2.0
// Ranks as processes joined by TCP, on one machine or several.
#pragma once

#include <memory>

#include "workloads/backend/communicator/rendezvous.hpp"

namespace gpusizer {

// Meets the other ranks (see meet()) and joins them. A peer that dies is noticed at once, a silent one when somebody
// has waited for it for timeout_seconds.
std::unique_ptr<Communicator> open_tcp(const RendezvousPlace& place, double timeout_seconds);

}  // namespace gpusizer
