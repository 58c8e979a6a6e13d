// SPDX-License-Identifier: Apache-2.0
// Parts of the free text in a table of published measurements.
#pragma once

#include <string>
#include <string_view>

namespace gpusizer::import {

// "OWNER/REPOSITORY@COMMIT:PATH (remark)" -> "OWNER/REPOSITORY" and "PATH (remark)".
std::string repository_of(std::string_view source);
std::string file_of(std::string_view source);

std::string base_name(std::string_view path);

// "_4_gpus_" becomes "_".
std::string without_gpu_count(std::string_view file);

// What identifies a configuration: the notes without what was measured or computed for the row ("step_time_s=..."), and
// without the machine where each count has its own.
std::string configuration_of(std::string_view repository, std::string_view notes);

// Without "batch=64", "batch size 64" and "section=..." up to the next semicolon.
std::string without_batch(std::string_view configuration);

// Without the words that say in which precision a row was measured; `file_without_precision` the same for a file's name.
std::string without_precision(std::string_view configuration);
std::string file_without_precision(std::string_view file);

}  // namespace gpusizer::import
