// SPDX-License-Identifier: Apache-2.0
// A communicator that is somebody else's, for those who want one of their own.
#pragma once

#include <memory>

#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {

// All calls go to `lent`, which must outlive it.
std::unique_ptr<Communicator> borrowed(Communicator& lent);

}  // namespace gpusizer
