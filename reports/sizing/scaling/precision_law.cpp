// SPDX-License-Identifier: Apache-2.0
// Composition of precisions.
#include "reports/sizing/scaling/precision_law.hpp"

namespace gpusizer::scaling {

double composed_throughput(double target_at_one, double reference_at_one, double reference_at_many) {
  return target_at_one * reference_at_many / reference_at_one;
}

double composed_seconds(double target_at_one, double reference_at_one, double reference_at_many) {
  return target_at_one + (reference_at_many - reference_at_one);
}

}  // namespace gpusizer::scaling
