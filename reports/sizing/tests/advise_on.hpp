// SPDX-License-Identifier: Apache-2.0
// Asking for advice on the example catalogue.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "gpusizer/error.hpp"
#include "reports/sizing/advise.hpp"
#include "reports/sizing/tests/example_reports.hpp"

namespace gpusizer::sizing {

inline Advice advise_on(std::vector<ReportInput> reports, const Goal& goal = example_goal()) {
  return advise(reports, example_catalog(), goal);
}

// The message with which a request is refused.
inline std::string advise_refusal(std::vector<ReportInput> reports, const Goal& goal) {
  try {
    advise_on(std::move(reports), goal);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "";
}

inline ReportInput eight_gpus() { return example_report({example_gpu_case("NVIDIA A100-SXM4-40GB", 8, 20000, 200)}); }

}  // namespace gpusizer::sizing
