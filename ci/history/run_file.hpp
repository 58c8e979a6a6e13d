// SPDX-License-Identifier: Apache-2.0
// One run of a history: a report file that says which commit and branch it belongs to, and never changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace gpusizer::ci {

struct Origin {
  std::string commit;           // of what was measured; empty: that of the program (report.tool.git_commit)
  std::string branch = "main";  // a history has one baseline per branch
};

// The report with its origin in the field "history" of the file.
record::Report with_origin(record::Report report, const Origin& origin);
Origin origin_of(const record::Report& report);

// Milliseconds since 1970 of "2026-01-31T12:00:00.5Z", and back (seconds only).
std::int64_t milliseconds_of(const std::string& utc);
std::string utc_of(std::int64_t milliseconds);

// "2026-01/20260131T120000Z-0123456789abcdef.json" below the folder of reports; the digits are of the content's SHA-256.
std::string run_file_name(const record::Report& report, const std::string& text);
std::int64_t run_id_of(const std::string& file_name);  // from these digits: the same on every machine

// Every run file below `folder`, as such names, sorted. Empty when the folder is not there.
std::vector<std::string> run_files(const std::filesystem::path& folder);

}  // namespace gpusizer::ci
