// SPDX-License-Identifier: Apache-2.0
// Writing a whole file at once: afterwards it is the new one in full, or on an error still the old one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gpusizer::record {

// Writes a temporary file in the same folder, flushes it to the disk, and renames it onto `path`. A symbolic link is
// followed. Throws Error(Fault::environment), leaving the old file untouched and no temporary file behind, when the
// disk is full, a limit is reached (ignore SIGXFSZ for that), the folder is missing or not writable, or `path` is
// something else than a regular file.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// The whole file. Throws Error(Fault::input) when it cannot be read or is larger than `most_bytes`.
std::string read_whole_file(const std::filesystem::path& path, std::size_t most_bytes);

}  // namespace gpusizer::record
