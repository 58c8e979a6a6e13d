// SPDX-License-Identifier: Apache-2.0
// Ratios of anchors, half corrected by what a roofline says.
#include "reports/sizing/scaling/anchor_transfer.hpp"

#include <cmath>
#include <vector>

#include "gpusizer/error.hpp"
#include "reports/record/distributions.hpp"

namespace gpusizer::scaling {
namespace {

constexpr double pooled_sd = 0.10, normal_95 = 1.6448536269514722;

bool usable(double seconds) { return std::isfinite(seconds) && seconds > 0; }

bool has_roofline(const Anchor& anchor) { return usable(anchor.source_roofline) && usable(anchor.target_roofline); }

double log_ratio(const Anchor& anchor, double lambda) {
  if (!usable(anchor.source_seconds) || !usable(anchor.target_seconds))
    throw Error(Fault::input, "an anchor's time is not above 0");
  const double measured = std::log(anchor.target_seconds / anchor.source_seconds);
  return lambda == 0 ? measured : measured - lambda * std::log(anchor.target_roofline / anchor.source_roofline);
}

}  // namespace

Transfer transfer(std::span<const Anchor> anchors, double source_seconds, std::optional<double> roofline_ratio, double lambda) {
  if (anchors.empty()) throw Error(Fault::input, "no workload was measured on both GPUs", "", "measure an anchor on the target");
  if (!usable(source_seconds)) throw Error(Fault::input, "the time on the source GPU is not above 0");
  if (!roofline_ratio || !usable(*roofline_ratio)) lambda = 0;
  for (const Anchor& anchor : anchors)
    if (!has_roofline(anchor)) lambda = 0;
  const double k = double(anchors.size());
  double mean = 0, squares = 0;
  for (const Anchor& anchor : anchors) mean += log_ratio(anchor, lambda) / k;
  for (const Anchor& anchor : anchors) squares += std::pow(log_ratio(anchor, lambda) - mean, 2);
  const bool few = anchors.size() < 3;
  Transfer result{.anchors = static_cast<int>(anchors.size())};
  result.log_sd = (few ? pooled_sd : std::sqrt(squares / (k - 1))) * std::sqrt(1 + 1 / k);
  const double centre = std::log(source_seconds) + mean + (lambda == 0 ? 0 : lambda * std::log(*roofline_ratio));
  const double half = (few ? normal_95 : record::student_t_quantile(0.95, result.anchors - 1)) * result.log_sd;
  result.seconds = std::exp(centre);
  result.low = std::exp(centre - half);
  result.high = std::exp(centre + half);
  return result;
}

double wave_exponent(double flop_per_byte, double ridge) {
  return flop_per_byte <= ridge ? 1 - 0.5 * flop_per_byte / ridge : 0.5 * ridge / flop_per_byte;
}

double wave_scaling(const WaveDevice& source, const WaveDevice& target, double exponent) {
  return std::pow(source.bandwidth / target.bandwidth, exponent) * std::pow(source.clock / target.clock, 1 - exponent) *
         std::pow(source.multiprocessors / target.multiprocessors, 1 - exponent);
}

double overlapped(double one, double other, double gamma) {
  const double longer = std::max(one, other);  // so that no power overflows
  if (longer == 0) return 0;
  return longer * std::pow(std::pow(one / longer, gamma) + std::pow(other / longer, gamma), 1 / gamma);
}

}  // namespace gpusizer::scaling
