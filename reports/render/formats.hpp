// SPDX-License-Identifier: Apache-2.0
// The formats in which reports can be read. A new format: one .hpp and .cpp beside this file, one line in formats.cpp;
// the tests of all formats then cover it too.
#pragma once

#include <span>
#include <string>

#include "reports/render/report_view.hpp"

namespace gpusizer::render {

struct Format {
  const char* name;         // as in --format
  const char* description;  // for the help
  std::string (*render)(std::span<const NamedReport> reports, const Look& look);
};

std::span<const Format> formats();

// Throws Error(Fault::usage) naming the known ones.
const Format& format_named(const std::string& name);

}  // namespace gpusizer::render
