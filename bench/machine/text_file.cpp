// SPDX-License-Identifier: Apache-2.0
// Reads a small file whose size the kernel does not tell.
#include "bench/machine/text_file.hpp"

#include <fstream>

namespace gpusizer {

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(1 << 20, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace gpusizer
