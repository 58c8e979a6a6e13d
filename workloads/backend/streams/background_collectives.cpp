// SPDX-License-Identifier: Apache-2.0
// A queue whose first one is under way.
#include "workloads/backend/streams/background_collectives.hpp"

namespace gpusizer {

void BackgroundCollectives::post(CollectiveRun& run, int64_t step) {
  posted_.push_back({&run, step});
  if (posted_.size() == 1) run.start();
}

bool BackgroundCollectives::advance() {
  if (posted_.empty() || !posted_.front().run->advance()) return false;
  posted_.erase(posted_.begin());
  if (!posted_.empty()) posted_.front().run->start();
  return true;
}

}  // namespace gpusizer
