// SPDX-License-Identifier: Apache-2.0
// One list of `gpusizer list`: a table for people and the same as JSON for scripts.
#pragma once

#include <string>

#include "bench/cli/options.hpp"
#include "reports/render/table.hpp"

namespace gpusizer::cli {

struct Listing {
  render::Table table;
  std::string json;  // an array of objects
};

Listing list_models();
Listing list_devices();
Listing list_suites();
Listing list_data();
Listing list_instances();

// gpusizer list program MODEL: facts and dump of a step program.
int list_program(const Options& options, const std::string& model);

}  // namespace gpusizer::cli
