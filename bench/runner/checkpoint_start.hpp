// SPDX-License-Identifier: Apache-2.0
// Whether a case may write checkpoints where it was told to, and which one it goes on from.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "bench/runner/prepared_case.hpp"
#include "workloads/checkpoint/checkpoint_folder.hpp"

namespace gpusizer {

// All that decides a case's losses, as words: what makes two cases comparable, and seed, length and learning rates.
std::map<std::string, std::string> checkpoint_config(const PreparedCase& prepared);

struct CheckpointStart {
  StoredCheckpoint from;
  std::string passed_over;  // why a newer one was not taken; empty: this is the newest
};

// Of a case with a folder for checkpoints. Makes the folder. `resumed`: the newest intact checkpoint, or nothing when
// there is none at all. Throws Error: input when one is of another case or configuration (naming what differs) or when
// all are damaged; usage when a case that begins anew finds checkpoints of an earlier run, which it would overwrite;
// environment when the folder cannot be written.
std::optional<CheckpointStart> checkpoint_start(const PreparedCase& prepared, const std::string& case_id, bool resumed);

}  // namespace gpusizer
