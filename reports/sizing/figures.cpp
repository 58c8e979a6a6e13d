// SPDX-License-Identifier: Apache-2.0
// Several cases that measured the same: median and covering interval.
#include "reports/sizing/figures.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "reports/record/statistics.hpp"

namespace gpusizer::sizing {
namespace {

// The lowest and the highest bound; not known as soon as one case's bound is not known.
Interval covering(std::span<const Evidence* const> cases) {
  std::vector<double> values;
  std::optional<double> low = cases.front()->samples_per_second.low, high = cases.front()->samples_per_second.high;
  for (const Evidence* one : cases) {
    const Interval& rate = one->samples_per_second;
    values.push_back(rate.value);
    low = low && rate.low ? std::optional(std::min(*low, *rate.low)) : std::nullopt;
    high = high && rate.high ? std::optional(std::max(*high, *rate.high)) : std::nullopt;
  }
  return {record::median(values), low, high};
}

Figure figure_of(const Hardware& hardware, const Variant& variant, std::span<const Evidence* const> cases) {
  Figure figure{hardware, variant, covering(cases), {}, {}};
  std::set<std::string_view> seen;
  for (const Evidence* one : cases) {
    figure.cases.push_back(one->reference);
    for (const std::string& warning : one->warnings)
      if (seen.insert(warning).second) figure.warnings.push_back(warning);
  }
  return figure;
}

}  // namespace

std::vector<Figure> combine(std::span<const Evidence> evidence) {
  std::map<std::pair<Hardware, Variant>, std::vector<const Evidence*>> groups;
  for (const Evidence& one : evidence) {
    if (!one.hardware.instance.empty()) groups[{one.hardware, one.variant}].push_back(&one);
    if (!one.hardware.gpu.empty())
      groups[{Hardware{"", "", one.hardware.gpu, one.hardware.gpu_count}, one.variant}].push_back(&one);
  }
  std::vector<Figure> figures;
  for (const auto& [key, cases] : groups) figures.push_back(figure_of(key.first, key.second, cases));
  return figures;
}

}  // namespace gpusizer::sizing
