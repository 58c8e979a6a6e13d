// SPDX-License-Identifier: Apache-2.0
// The order of trust, one function each.
#include "bench/simulation/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "reports/sizing/scaling/quantile.hpp"
#include "reports/sizing/scaling/tiered_model.hpp"

namespace gpusizer {
namespace {

using record::Provenance;

constexpr double measurement_noise = 0.02;  // relative sd of one published or measured rate
// Half widths of the log rate of the simulated device, alone and corrected by the same workload elsewhere: set by hand, near
// the 90 % bands of its back-test on published rates of one GPU.
constexpr double half_width_alone = 0.60, half_width_corrected = 0.38;
constexpr std::size_t most_corrections = 9;
constexpr double farthest_factor = 4;  // beyond so many times the largest measured count little is known

void set_interval(PredictedRate& rate, double half_width) {
  rate.low = rate.samples_per_second * std::exp(-half_width);
  rate.high = rate.samples_per_second * std::exp(half_width);
}

std::vector<const KnownRate*> usable(std::span<const KnownRate> known) {
  std::vector<const KnownRate*> result;
  for (const KnownRate& one : known)
    if (one.provenance == Provenance::measured || one.provenance == Provenance::published) result.push_back(&one);
  return result;
}

Provenance weakest(const std::vector<const KnownRate*>& rows) {
  for (const KnownRate* row : rows)
    if (row->provenance != Provenance::measured) return row->provenance;
  return Provenance::measured;
}

std::string words_of(const KnownRate& row) {
  return fmt::format("{}: {:.4g}/s on {} x {}{}, {}, batch {} per device, by {}", record::to_word(row.provenance),
                     row.samples_per_second, row.place.devices, row.place.gpu,
                     row.place.nodes > 1 ? fmt::format(" on {} nodes", row.place.nodes) : "", row.place.precision,
                     row.place.batch, row.source);
}

void name_sources(PredictedRate& rate, const std::vector<const KnownRate*>& rows) {
  for (std::size_t i = 0; i < rows.size() && i < 5; ++i) rate.from.push_back(words_of(*rows[i]));
  if (rows.size() > 5) rate.from.push_back(fmt::format("and {} more", rows.size() - 5));
}

double median_rate(const std::vector<const KnownRate*>& rows) {
  std::vector<double> logs;
  for (const KnownRate* row : rows) logs.push_back(std::log(row->samples_per_second));
  return std::exp(scaling::median(logs));
}

std::optional<PredictedRate> from_same_place(const RunPlace& asked, const std::vector<const KnownRate*>& known) {
  std::vector<const KnownRate*> same;
  for (const KnownRate* row : known)
    if (row->place == asked) same.push_back(row);
  if (same.empty()) return std::nullopt;
  PredictedRate rate{.samples_per_second = median_rate(same), .evidence = scaling::Evidence::measured};
  rate.provenance = weakest(same);
  name_sources(rate, same);
  double spread = 0;  // where several sources differ, the interval reaches over all of them
  for (const KnownRate* row : same) spread = std::max(spread, std::abs(std::log(row->samples_per_second / rate.samples_per_second)));
  set_interval(rate, std::max(spread, scaling::combined_half_width(0, measurement_noise)));
  return rate;
}

std::vector<scaling::Point> points_of(const std::vector<const KnownRate*>& rows) {
  std::vector<scaling::Point> points;
  for (const KnownRate* row : rows)
    points.push_back({{double(row->place.devices), double(row->place.nodes)}, double(row->place.devices) / row->samples_per_second});
  return points;
}

std::optional<PredictedRate> from_other_counts(const RunPlace& asked, const std::vector<const KnownRate*>& known) {
  std::vector<const KnownRate*> rows;
  std::set<std::int64_t> counts;
  std::int64_t most = 0, nodes = 0, least = INT64_MAX;
  for (const KnownRate* row : known) {
    RunPlace moved = row->place;
    moved.devices = asked.devices, moved.nodes = asked.nodes;
    if (!(moved == asked)) continue;
    rows.push_back(row);
    counts.insert(row->place.devices);
    most = std::max(most, row->place.devices), least = std::min(least, row->place.devices);
    nodes = std::max(nodes, row->place.nodes);
  }
  if (rows.empty()) return std::nullopt;
  const auto fit = scaling::fit_tiered(points_of(rows), scaling::shipped_prior());
  const scaling::Layout layout{double(asked.devices), double(asked.nodes)};
  PredictedRate rate{.samples_per_second = double(asked.devices) / fit.seconds(layout)};
  const bool new_tier = asked.nodes > 1 && nodes <= 1, inside = !new_tier && asked.devices < most && asked.devices > least;
  rate.evidence = inside ? scaling::Evidence::interpolated : scaling::Evidence::extrapolated;
  const auto reach = new_tier ? scaling::Reach::new_tier : inside ? scaling::Reach::inside : scaling::Reach::same_tier;
  name_sources(rate, rows);
  set_interval(rate, scaling::combined_half_width(scaling::shipped_factor(reach) * std::sqrt(fit.relative_sd(layout)), measurement_noise));
  if (new_tier) rate.warnings.push_back("Nothing was measured across nodes: measure one 2-node point before relying on it.");
  if (double(asked.devices) > farthest_factor * double(most))
    rate.warnings.push_back(fmt::format("Low confidence: {} devices are more than 4 times the largest measured count, {}.", asked.devices, most));
  return rate;
}

int distance(const RunPlace& asked, const RunPlace& other) {
  return 4 * (other.precision != asked.precision) + 2 * (other.gpu != asked.gpu) + (other.devices != asked.devices);
}

// Both when there is evidence elsewhere and when there is none.
PredictedRate from_simulation(const RunPlace& asked, std::vector<const KnownRate*> known, const SimulatedRate& simulated) {
  std::stable_sort(known.begin(), known.end(), [&](const KnownRate* left, const KnownRate* right) {
    return distance(asked, left->place) < distance(asked, right->place);
  });
  if (known.size() > most_corrections) known.resize(most_corrections);
  std::vector<double> misses;
  for (const KnownRate* row : known) misses.push_back(std::log(row->samples_per_second / simulated(row->place)));
  PredictedRate rate{.samples_per_second = simulated(asked) * (misses.empty() ? 1 : std::exp(scaling::median(misses)))};
  rate.from.push_back(misses.empty() ? "the simulated device alone: nobody measured this workload"
                                     : fmt::format("the simulated device, times {:.2f} by what it misses elsewhere:",
                                                   std::exp(scaling::median(misses))));
  name_sources(rate, known);
  set_interval(rate, scaling::combined_half_width(misses.empty() ? half_width_alone : half_width_corrected, measurement_noise));
  return rate;
}

}  // namespace

PredictedRate simulated_alone(double samples_per_second) {
  return from_simulation({}, {}, [&](const RunPlace&) { return samples_per_second; });
}

PredictedRate predict_rate(const RunPlace& asked, std::span<const KnownRate> all, const SimulatedRate& simulated) {
  const auto known = usable(all);
  if (auto rate = from_same_place(asked, known)) return *rate;
  if (auto rate = from_other_counts(asked, known)) return *rate;
  return from_simulation(asked, known, simulated);
}

}  // namespace gpusizer
