// SPDX-License-Identifier: Apache-2.0
// The forms of served models beside each other: how fast they answer, and how well.
#pragma once

#include "reports/record/record.hpp"
#include "reports/render/table.hpp"

namespace gpusizer::render {

// One row for each form of each inference case, in order.
Table inference_table(const record::Report& report);

}  // namespace gpusizer::render
