// SPDX-License-Identifier: Apache-2.0
// Makes one rank fail on purpose, so that everybody can see that a run survives it.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/run_config/parallel.hpp"

namespace gpusizer {

// What befalls the rank as it enters the step (from 1): "throw" throws Error(failed), "stall" never returns, "exit" ends
// the process at once. "nan" is not done here: true says that the rank's loss is to be spoilt.
bool rehearse_fault(const std::optional<FaultOptions>& fault, std::int64_t rank, std::int64_t step);

}  // namespace gpusizer
