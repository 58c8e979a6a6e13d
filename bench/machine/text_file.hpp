// SPDX-License-Identifier: Apache-2.0
// Small text files of the kernel.
#pragma once

#include <string>

namespace gpusizer {

// The first MiB of the file; empty when it cannot be read: such a file is a hint, never a need.
std::string read_text_file(const std::string& path);

}  // namespace gpusizer
