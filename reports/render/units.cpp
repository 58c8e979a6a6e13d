// SPDX-License-Identifier: Apache-2.0
// Numbers for people: the unit that keeps three digits readable.
#include "reports/render/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace gpusizer::render {
namespace {

struct Unit {
  double size;   // in base units
  double below;  // values up to here are shown in it
  const char* name;
};

constexpr std::array<Unit, 5> times = {
    {{1e-6, 1e-3, "µs"}, {1e-3, 1, "ms"}, {1, 120, "s"}, {60, 7200, "min"}, {3600, HUGE_VAL, "h"}}};

constexpr double kib = 1024;
constexpr std::array<Unit, 5> sizes = {{{1, kib, "B"},
                                        {kib, kib * kib, "KiB"},
                                        {kib * kib, kib * kib * kib, "MiB"},
                                        {kib * kib * kib, kib * kib * kib * kib, "GiB"},
                                        {kib * kib * kib * kib, HUGE_VAL, "TiB"}}};

template <std::size_t n>
std::string in_unit(const std::array<Unit, n>& units, double value) {
  const auto unit = std::find_if(units.begin(), units.end() - 1,
                                 [&](const Unit& candidate) { return std::abs(value) < candidate.below; });
  return significant(value / unit->size, 3) + " " + unit->name;
}

}  // namespace

std::string significant(double value, int digits) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return "not known";
  if (std::abs(value) < 1e-6 || std::abs(value) >= 1e15) return fmt::format("{:.{}g}", value, digits);
  // The exponent after rounding, so that 9.9996 becomes 10.00 and not 10.000.
  const std::string rounded = fmt::format("{:.{}e}", value, digits - 1);
  const int exponent = std::atoi(rounded.c_str() + rounded.find('e') + 1);
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
}

std::string time_text(double seconds) { return in_unit(times, seconds); }

std::string bytes_text(double bytes) {
  return std::abs(bytes) < kib ? fmt::format("{:.0f} B", bytes) : in_unit(sizes, bytes);
}

std::string percent_text(double share) { return significant(100 * share, std::abs(share) < 0.1 ? 2 : 3) + " %"; }

}  // namespace gpusizer::render
