// SPDX-License-Identifier: Apache-2.0
// One writer at a time in a history's folder, among all processes of a machine.
#pragma once

#include <filesystem>

namespace gpusizer::ci {

// Held until destruction; the system lets go of it when the process dies, however it dies.
// Throws Error(environment) when the folder is not writable or another writer does not finish within two minutes.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace gpusizer::ci
