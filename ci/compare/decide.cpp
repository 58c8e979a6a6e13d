// SPDX-License-Identifier: Apache-2.0
// The staged test and what stands in for it when there are few runs.
#include "ci/compare/decide.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ci/evidence/rank_test.hpp"
#include "ci/evidence/runs_test.hpp"
#include "reports/record/statistics.hpp"

namespace gpusizer::ci {
namespace {

constexpr double kSingleRunAlpha = 1e-5;   // one run alone must be beyond any doubt
constexpr double kOutlierAlpha = 3e-4;     // a base with outliers has heavier tails than Student's t knows
constexpr double kNoiseFloor = 0.001;      // runs of a program never agree better; those that do were copied
constexpr std::size_t kFewestPooled = 4;

// Values on the scale of the test: differences there are relative changes.
std::vector<double> scaled(std::span<const double> values, const RunValues& all) {
  std::vector<double> result;
  const double unit = all.logarithmic ? 1 : std::abs(record::median(all.base));
  for (const double value : values) result.push_back(all.logarithmic ? std::log(value) : value / unit);
  std::sort(result.begin(), result.end());  // sums then do not depend on the order of files
  return result;
}

double share(double shift, bool logarithmic) { return logarithmic ? std::expm1(shift) : shift; }

std::optional<double> spread(std::span<const double> values) {
  return values.size() < 2 ? std::nullopt : std::optional(record::standard_deviation(values));
}

bool is_worse(double shift, record::Better better) { return better == record::Better::lower ? shift > 0 : shift < 0; }

struct Scene {
  const RunValues& values;
  const Thresholds& limits;
  std::vector<double> base, fresh;
  Judgement& judgement;

  double median_shift() const { return record::median(fresh) - record::median(base); }
  double floor(double change) const { return change < 0 ? -shift_of(-limits.min_change) : shift_of(limits.min_change); }
  double shift_of(double change) const { return values.logarithmic ? std::log1p(change) : change; }
  void say(Verdict verdict, const char* reason) {
    judgement.verdict = verdict;
    judgement.reason = reason;
  }
  void call(double shift, const char* reason) {
    say(is_worse(shift, values.better) ? Verdict::regressed : Verdict::improved, reason);
  }
};

void describe(Scene& scene) {
  Judgement& j = scene.judgement;
  j.base_runs = scene.base.size();
  j.new_runs = scene.fresh.size();
  j.base_median = record::median(scene.values.base);
  j.new_median = record::median(scene.values.fresh);
  j.base_spread = spread(scene.base);
  j.new_spread = spread(scene.fresh);
  if (scene.values.within > 0) j.within_spread = scene.values.within;
  j.change = share(scene.median_shift(), scene.values.logarithmic);
  j.rank_p = rank_test(scene.base, scene.fresh);
}

void fill_from(const RunsTest& test, double alpha, Scene& scene) {
  Judgement& j = scene.judgement;
  const bool log = scene.values.logarithmic;
  j.change = share(test.shift, log);
  j.change_low = share(test.low, log);
  j.change_high = share(test.high, log);
  j.t = test.t;
  j.p = std::min(test.p_above, test.p_below);
  j.smallest_visible = std::max(share(smallest_visible_shift(test, alpha), log), scene.limits.min_change);
}

void decide_with_few(Scene& scene) {
  const double change = *scene.judgement.change;
  scene.judgement.smallest_visible = scene.limits.hard_limit;
  if (std::abs(change) > scene.limits.hard_limit) return scene.call(change, "hard_limit");
  scene.say(Verdict::insufficient_data, "too_few_runs");
}

// One new run: most pass at once, the suspicious ones ask for company.
void decide_single(const RunsTest& test, Scene& scene) {
  const double floor = scene.floor(test.shift), far = test.shift < 0 ? -test.low : test.high;
  const double p = *scene.judgement.p;
  const bool beyond = std::abs(test.shift) > floor;
  if (beyond && (p < kSingleRunAlpha || std::abs(*scene.judgement.change) > scene.limits.hard_limit))
    return scene.call(test.shift, "clear_at_once");
  if (p >= scene.limits.suspicion) return scene.say(Verdict::unchanged, "no_evidence");
  if (far < floor) return scene.say(Verdict::unchanged, "below_floor");
  const bool worse = is_worse(test.shift, scene.values.better);
  if (!worse && p >= scene.limits.alpha) return scene.say(Verdict::unchanged, "no_evidence");
  scene.say(Verdict::ambiguous, "needs_more_runs");
}

void decide_several(const RunsTest& test, double alpha, Scene& scene) {
  const double floor = scene.floor(test.shift), median = scene.median_shift();
  const bool beyond = std::abs(test.shift) > floor && std::abs(median) > floor && (median > 0) == (test.shift > 0);
  const double p = *scene.judgement.p;
  if (beyond && p < alpha) return scene.call(test.shift, "evidence");
  if (!beyond) return scene.say(Verdict::unchanged, std::abs(test.shift) > floor ? "median_below_floor" : "below_floor");
  if (p >= 0.05) return scene.say(Verdict::unchanged, "no_evidence");
  scene.say(Verdict::ambiguous, "weak_evidence");
}

}  // namespace

void decide(const RunValues& values, const Thresholds& limits, Judgement& judgement) {
  Scene scene{values, limits, scaled(values.base, values), scaled(values.fresh, values), judgement};
  judgement.min_change = limits.min_change;
  describe(scene);
  const bool history = scene.base.size() >= limits.history;
  const bool pooled = !history && std::min(scene.base.size(), scene.fresh.size()) >= kFewestPooled;
  if (!history && !pooled) {
    if (scene.base == scene.fresh) return scene.say(Verdict::unchanged, "equal_values");
    return decide_with_few(scene);
  }
  // Within a run the mean is known to `within` at 95 %: with few runs their spread may be small by luck.
  const double floor = pooled ? std::max(kNoiseFloor, values.within / 1.96) : kNoiseFloor;
  const RunsTest test = history ? test_against_history(scene.base, scene.fresh, floor) : test_pooled(scene.base, scene.fresh, floor);
  const double alpha = count_outliers(scene.base, 4) ? std::min(limits.alpha, kOutlierAlpha) : limits.alpha;
  fill_from(test, scene.fresh.size() == 1 ? kSingleRunAlpha : alpha, scene);
  if (scene.fresh.size() == 1) decide_single(test, scene);
  else decide_several(test, alpha, scene);
}

}  // namespace gpusizer::ci
