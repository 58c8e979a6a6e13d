// SPDX-License-Identifier: Apache-2.0
// From the steps that were executed to the report's figures: throughput, intervals, stalls, flags.
#pragma once

#include <string>

#include "bench/runner/measuring_loop.hpp"
#include "reports/record/record.hpp"

namespace gpusizer {

// Fills measurement, throughput, the metrics made of them, and validity flags of `record`. The measured window is every
// step after the warm-up cut, tail batches included; interval and cut come from the full steps alone (a tail is shorter
// by construction). `sample_unit` is "images".
void fill_measurement(record::Case& record, const LoopResult& result, const LoopPlan& plan, const std::string& sample_unit);

// Fills training: loss curve, evaluations, time to target. `steps_per_epoch` > 0.
void fill_training(record::Case& record, const LoopResult& result, const LoopPlan& plan);

// The longest loss curve in a report; of a longer run every k-th step and the last one are kept.
inline constexpr std::size_t longest_loss_curve = 2000;

}  // namespace gpusizer
