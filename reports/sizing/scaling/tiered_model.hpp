// SPDX-License-Identifier: Apache-2.0
// How the time of a step grows with GPUs and nodes when each GPU keeps its batch: the tiered ring model.
//
//   t(N, m) / t_ref = th0 + th1 2(n-1)/n + th2 2(m-1)/m + th3 log2 N,  th >= 0,  n = N/m GPUs on each of m nodes
//
// th1 is the exposed ring all-reduce inside a node, th2 that across nodes, th3 stragglers and latencies; t_ref is the time at
// the smallest measured count. What the points leave open is taken from a population of published series (the prior).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "reports/sizing/scaling/nnls.hpp"

namespace gpusizer::scaling {

struct Layout {
  double gpus = 1, nodes = 1;
};

// Step time at a layout. Only ratios matter: any unit, as long as it is one.
struct Point {
  Layout layout;
  double seconds = 0;
};

// What is expected of a series that was not measured yet.
struct Prior {
  Coefficients mean{}, spread{};  // of th1, th2, th3 at their index; index 0 is not used
  double noise = 0.025;           // relative, of one point
  // Before a point on several nodes: mean of th2 = max(0, offset + factor q) with the growth per doubling q that the
  // nodes' inside shows. A workload that loses much inside the node loses much across nodes.
  struct Node {
    double offset = 0, factor = 0, spread = 1;
  };
  std::optional<Node> node;
};

// The prior of ten public sources, 1482 series and 7395 points (2017 to 2025).
Prior shipped_prior();

Coefficients features(const Layout& layout);

// Relative growth of the time per doubling between the smallest and the largest count on one node, within [-0.05, 0.6];
// nothing where one node was measured at fewer than two counts.
std::optional<double> growth_per_doubling(std::span<const Point> points);

struct Fit {
  double reference_seconds = 0;
  Coefficients theta{};
  // Inverse of the posterior's curvature: with it the sd of log t at any layout follows from noise and prior.
  std::array<Coefficients, most_columns> covariance{};
  double noise = 0;

  double seconds(const Layout& layout) const;
  // Of one more measurement there, relative: what points and prior leave open, and the noise.
  double relative_sd(const Layout& layout) const;
};

// Maximum a posteriori. Throws Error(input) without points, or when a time, count or node number is not above 0.
Fit fit_tiered(std::span<const Point> points, const Prior& prior);

}  // namespace gpusizer::scaling
