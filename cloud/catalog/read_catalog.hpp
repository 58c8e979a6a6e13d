// SPDX-License-Identifier: Apache-2.0
// The two catalogue files as text -> structs.
#pragma once

#include <string>
#include <string_view>

#include "cloud/catalog/catalog.hpp"

namespace gpusizer::cloud {

inline constexpr const char* gpus_schema = "gpusizer.gpus/1";
inline constexpr const char* instances_schema = "gpusizer.instances/1";

// Puts the file's rows in place of those that `catalog` has of the same kind: a gpus file replaces gpus and aliases, an
// instances file replaces instances and billing. Throws Error(input) naming `file` and the byte or the JSON pointer.
// Rules that need both files are left to check_catalog.
void read_catalog_part(Catalog& catalog, std::string_view text, const std::string& file);

}  // namespace gpusizer::cloud
