// SPDX-License-Identifier: Apache-2.0
// A report on disk: written all or nothing, long series of step times in their own file beside it.
#pragma once

#include <filesystem>

#include "reports/record/record.hpp"

namespace gpusizer::record {

// Replaces `path` in one step: a reader sees the old report or the new one, never a part, whatever happens.
// On an error (disk full, file-size limit with SIGXFSZ ignored, folder missing or not writable) throws
// Error(Fault::environment); the old file is untouched and nothing is left behind.
void write_report(const std::filesystem::path& path, const Report& report);

enum class Series {
  leave,  // the report alone: block means stand for a long series
  load,   // read the series files too, check their SHA-256, put the step times back
};

// Throws Error(Fault::input) when the file or a series file is unreadable, damaged or not a report.
Report read_report(const std::filesystem::path& path, Series series = Series::leave);

}  // namespace gpusizer::record
