// SPDX-License-Identifier: Apache-2.0
// The catalogue files as they were when the program was built.
#pragma once

#include <string_view>

namespace gpusizer::cloud {

std::string_view embedded_gpus_json();
std::string_view embedded_instances_json();

}  // namespace gpusizer::cloud
