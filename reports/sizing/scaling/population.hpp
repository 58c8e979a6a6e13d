// SPDX-License-Identifier: Apache-2.0
// What series of other people say about one that was not measured yet: the prior of the tiered ring model.
#pragma once

#include <span>
#include <vector>

#include "reports/sizing/scaling/tiered_model.hpp"

namespace gpusizer::scaling {

using Series = std::vector<Point>;  // of one workload on one system, ascending in GPUs

// Mean, spread and noise over the series (their coefficients by a fit without a prior), and th2 as a function of the
// growth inside the node where at least eight points on several nodes tell. Without series: shipped_prior().
Prior learn_prior(std::span<const Series> series);

}  // namespace gpusizer::scaling
