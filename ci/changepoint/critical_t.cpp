// SPDX-License-Identifier: Apache-2.0
// The table of critical values at the level .001: the largest of many t is larger than one t.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "ci/changepoint/segmentation.hpp"

namespace gpusizer::ci {
namespace {

struct Row {
  double runs, t;
};

// Simulated for this program (normal runs, segments of at least 4). The limit falls until the ends are no longer most
// of the series, and hardly moves afterwards.
constexpr Row kTable[] = {{8, 6.020},  {10, 5.947}, {12, 5.682}, {15, 5.344}, {20, 4.932},  {24, 4.810}, {30, 4.717},
                          {40, 4.560}, {60, 4.415}, {80, 4.375}, {100, 4.351}, {150, 4.366}, {200, 4.340}};

}  // namespace

double critical_t(std::size_t runs) {
  const auto n = static_cast<double>(runs);
  if (n < kTable[0].runs) return std::numeric_limits<double>::infinity();
  const auto above = std::find_if(std::begin(kTable), std::end(kTable), [&](const Row& row) { return row.runs >= n; });
  if (above == std::end(kTable)) return std::prev(std::end(kTable))->t;
  if (above->runs == n) return above->t;
  const Row& below = *std::prev(above);
  return below.t + (above->t - below.t) * (n - below.runs) / (above->runs - below.runs);
}

}  // namespace gpusizer::ci
