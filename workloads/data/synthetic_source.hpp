// SPDX-License-Identifier: Apache-2.0
// Made-up data for timing, of the kind that the model takes.
#pragma once

#include <memory>
#include <string>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

// Samples of options.kind, made from options.seed; each kind has a file of its own, synthetic_KIND.cpp.
std::unique_ptr<SampleSource> open_synthetic(const std::string& no_path, const DataOptions& options);

}  // namespace gpusizer
