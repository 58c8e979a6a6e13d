// SPDX-License-Identifier: Apache-2.0
// The simulated device against published measurements of our workloads on one GPU.
#pragma once

#include <optional>
#include <vector>

#include "bench/run_config/run_config.hpp"
#include "cloud/catalog/catalog.hpp"
#include "reports/import/published_rows.hpp"
#include "reports/sizing/backtest/backtest.hpp"

namespace gpusizer {

// What we would run to repeat the row; nothing for workloads that we do not have or rows without a batch.
std::optional<CaseConfig> case_of(const import::PublishedRow& row);

// Two situations: the simulated device alone, and calibrated by the median ratio of the same workload and precision of the
// same source on other GPUs (of any source where that source has none).
std::vector<backtest::Situation> backtest_simulated(const std::vector<import::PublishedRow>& rows, const cloud::Catalog& catalog);

}  // namespace gpusizer
