// SPDX-License-Identifier: Apache-2.0
// The table that `gpusizer backtest` on published measurements gave.
#include "reports/sizing/scaling/interval_table.hpp"

#include <cmath>

namespace gpusizer::scaling {

std::string_view to_word(Reach reach) {
  switch (reach) {
    case Reach::inside: return "inside the measured counts";
    case Reach::same_tier: return "beyond the measured counts";
    case Reach::new_tier: return "first time across nodes";
    case Reach::batch_inside: return "batch between measured ones";
    case Reach::batch_beyond: return "batch beyond measured ones";
    case Reach::precision: return "precision composed";
    case Reach::gpu_anchors: return "other GPU, with anchors";
    case Reach::gpu_no_anchors: return "other GPU, without anchors";
  }
  return "";
}

std::string_view to_word(Evidence evidence) {
  switch (evidence) {
    case Evidence::measured: return "measured";
    case Evidence::interpolated: return "interpolated";
    case Evidence::extrapolated: return "extrapolated";
    case Evidence::predicted: return "predicted";
  }
  return "";
}

double shipped_factor(Reach reach) {
  switch (reach) {
    case Reach::inside: return 0.58;
    case Reach::same_tier: return 0.89;
    case Reach::new_tier: return 0.55;
    case Reach::batch_inside: return 2.1;
    case Reach::batch_beyond: return 4.1;
    case Reach::precision: return 0.084;
    case Reach::gpu_anchors: return 1.6;
    case Reach::gpu_no_anchors: return 1.6;
  }
  return 1;
}

double combined_half_width(double backtest, double noise_sd, double machine_sd) {
  constexpr double normal_90 = 1.6448536269514722;
  const double noise = normal_90 * noise_sd, machine = normal_90 * machine_sd;
  return std::sqrt(backtest * backtest + noise * noise + machine * machine);
}

}  // namespace gpusizer::scaling
