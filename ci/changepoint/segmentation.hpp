// SPDX-License-Identifier: Apache-2.0
// Level shifts in a series of runs, found by the largest t over all places, with limits that pay for having looked at all.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace gpusizer::ci {

struct SegmentationRules {
  std::size_t shortest = 4;   // runs in a segment; a single bad run is no level
  double least_change = 0.01; // share of the level before; smaller shifts are not worth a word
};

// Between at - 1 and at the level changed.
struct ChangePoint {
  std::size_t at = 0;            // index of the first run of the new level
  double before = 0, after = 0;  // means of the neighbouring segments
  double t = 0, limit = 0;       // what was found and what was needed, for the two segments together

  double change() const { return (after - before) / (before < 0 ? -before : before); }  // share; infinite after a level of 0

  friend bool operator==(const ChangePoint&, const ChangePoint&) = default;
};

// Change points of the series, in order. For every stretch the largest
//   T(k) = |mean(1..k) - mean(k+1..n)| / (s sqrt(1/k + 1/(n-k))),  s pooled over both sides,
// is set against critical_t(n); left and right of it the search goes on; then points that are not worth it any more
// between their neighbours are taken back, the weakest first. Where neighbouring runs resemble each other (lag-1
// autocorrelation r of the residuals above 1.64/sqrt(n), its one-sided 5 % limit) the limit is multiplied by sqrt((1+r)/(1-r)).
std::vector<ChangePoint> find_change_points(std::span<const double> series, const SegmentationRules& rules = {});

// The best place in the whole stretch, whether or not it passes; at = 0 when it is shorter than two segments.
ChangePoint strongest_split(std::span<const double> series, const SegmentationRules& rules = {});

// What T must reach for a change in n independent runs with segments of at least 4, so that one unchanged series in
// 1000 shows one. Quantiles of 200,000 to 400,000 simulated series, interpolated in n; infinite below 8.
double critical_t(std::size_t runs);

}  // namespace gpusizer::ci
