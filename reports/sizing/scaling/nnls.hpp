// SPDX-License-Identifier: Apache-2.0
// Least squares whose coefficients may not be negative, for the few coefficients of the laws of this folder.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace gpusizer::scaling {

inline constexpr std::size_t most_columns = 4;
using Coefficients = std::array<double, most_columns>;

// One equation: features . coefficients = target. Columns beyond `columns` of solve_nnls() are not looked at.
struct Equation {
  Coefficients features{};
  double target = 0;
};

// The x >= 0 that minimises the sum of (features . x - target)^2; columns that are all 0 get 0. Every set of columns that
// may be above 0 is tried (at most 15), so there is no iteration that could fail to end.
Coefficients solve_nnls(std::span<const Equation> equations, std::size_t columns);

}  // namespace gpusizer::scaling
