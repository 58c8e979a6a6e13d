// SPDX-License-Identifier: Apache-2.0
// Going on with a report in another layout over ranks.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench/cli/command.hpp"
#include "bench/run_config/run_config.hpp"

namespace gpusizer::cli {

// The flags that may be given beside --resume: they say how a job is done, not what it computes.
std::span<const std::string_view> layout_flags();

// What another layout changes about the words of a run's command.
struct LayoutChange {
  Arguments flags;          // "--parallel", "dp=2": the new ones
  std::int64_t job_batch;   // of all replicas, which stays
  std::string checkpoint_of;  // the case that saved what is gone on with
};

// The words without the flags that the change replaces, and then its own.
Arguments changed_words(const Arguments& words, const LayoutChange& change);

}  // namespace gpusizer::cli
