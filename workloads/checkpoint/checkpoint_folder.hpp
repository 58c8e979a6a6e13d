// SPDX-License-Identifier: Apache-2.0
// The checkpoints of one case in a folder: their names, which are there, and which are kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gpusizer {

struct StoredCheckpoint {
  std::filesystem::path path;
  std::int64_t step = 0;
};

// Files "<case>-step-<N>.safetensors"; several cases may share a folder.
class CheckpointFolder {
 public:
  CheckpointFolder(std::filesystem::path folder, const std::string& case_id);

  // Makes the folder where it is missing and writes a file to try. Throws Error(environment) when that cannot be.
  void require_writable() const;

  std::filesystem::path path_of(std::int64_t step) const;

  // Those of this case, the newest first; none where there is no folder. Throws Error(environment) for an unreadable
  // one.
  std::vector<StoredCheckpoint> newest_first() const;

  // After the checkpoint of `step` was written: it and the one before it stay. What is older goes, and so do files of
  // this case that were never finished and those of later steps (damaged ones that the run did not go on from).
  void tidy(std::int64_t step) const;

 private:
  std::filesystem::path folder_;
  std::string stem_;  // "resnet8_synthetic_b8_fp32_cpu-step-"
};

}  // namespace gpusizer
