// SPDX-License-Identifier: Apache-2.0
// Which documents of a text are held out.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

inline constexpr int64_t documents_for_one_held_out = 20;

// Of every 20 documents in a row one, at a place drawn by a fixed rule, belongs to the test split. Fewer than 20
// documents hold out one of them.
Split split_of(int64_t document, int64_t documents);

// Throws Error(input) when there are not two documents.
void check_can_split(int64_t documents, const std::string& path);

}  // namespace gpusizer
