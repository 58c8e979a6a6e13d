// SPDX-License-Identifier: Apache-2.0
// What others and we measured of a workload: rows of tables and cases of reports that are the same model.
#pragma once

#include <string>
#include <vector>

#include "bench/run_config/run_config.hpp"
#include "bench/simulation/prediction.hpp"
#include "cloud/catalog/catalog.hpp"
#include "reports/import/published_rows.hpp"

namespace gpusizer {

// Rows whose case_of() has the model, and where both say it the sequence and head, of `config`.
std::vector<KnownRate> known_rates(const std::vector<import::PublishedRow>& rows, const CaseConfig& config, const cloud::Catalog& catalog);

// A file of evidence: a report (JSON) or a table (CSV). What is left out is said in `notes`.
// Throws Error(input) for a file that is neither.
std::vector<KnownRate> read_known_rates(const std::string& path, const CaseConfig& config, const cloud::Catalog& catalog,
                                        std::vector<std::string>& notes);

}  // namespace gpusizer
