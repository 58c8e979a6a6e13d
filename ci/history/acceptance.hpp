// SPDX-License-Identifier: Apache-2.0
// What people said about level shifts: accepted with a reason, or found to be none. One small file each, never changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gpusizer::ci {

struct Acceptance {
  std::string case_pattern = "*", metric_pattern = "*";
  std::int64_t from_ms = 0;       // the first run of the new level
  std::string commit;             // of that run
  std::string author, reason, date_utc;
  bool false_alarm = false;       // there was no shift: the base goes on, and it is not raised again
};

void write_acceptance(const std::filesystem::path& folder, const Acceptance& acceptance);

// In order of time. Throws Error(input) for a file that is none.
std::vector<Acceptance> read_acceptances(const std::filesystem::path& folder);

bool is_about(const Acceptance& acceptance, const std::string& case_id, const std::string& metric);

}  // namespace gpusizer::ci
