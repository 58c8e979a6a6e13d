// SPDX-License-Identifier: Apache-2.0
// Puts the buckets' collectives where their gradients are ready, and says who updates what.
#include "workloads/transforms/data_parallel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/transforms/delayed_sum.hpp"
#include "workloads/transforms/insertion.hpp"
#include "workloads/transforms/loss_shares.hpp"

namespace gpusizer {

namespace {

void require_ranks(const std::vector<int32_t>& ranks, int32_t rank, const std::string& whose) {
  const bool ascend = std::ranges::adjacent_find(ranks, std::greater_equal{}) == ranks.end();
  if (!ascend || std::ranges::count(ranks, rank) != 1)
    throw Error(Fault::usage, fmt::format("the ranks {} of {} do not ascend or leave out rank {}",
                                          fmt::join(ranks, ","), whose, rank));
}

void check(const Differentiated& step, const DataParallelOptions& o) {
  require_ranks(o.replicas, o.rank, "all replicas");
  if (o.samples < 0 || o.total_samples < 1 || o.samples > o.total_samples)
    throw Error(Fault::usage, fmt::format("{} of {} samples cannot be", o.samples, o.total_samples), step.program.name);
  if (o.delay && (*o.delay < 0 || o.sharded || !o.tied.empty()))
    throw Error(Fault::usage, fmt::format("gradients cannot come {} steps later here", *o.delay), step.program.name,
                "neither share the optimizer nor cut the model into stages");
  for (const Operation& op : step.program.operations)
    if (op.phase == Phase::update)
      throw Error(Fault::usage, "replicas must be joined before the updates are added", step.program.name);
}

constexpr const char* first_bucket = "gradients.0";
// Travels with the first bucket: 1 from the first rank, so that the sum is 1 where gradients have come and 0 before.
constexpr const char* counted = "counted";

// What is kept from step to step is f32.
TensorId exact(Insertion& edit, int32_t place, TensorId gradient) {
  const Tensor& t = edit.program().tensor(gradient);
  if (t.dtype == DType::f32) return gradient;
  const std::string name = t.name + ":f32";
  return edit.apply(place, OpKind::cast, name, {gradient}, CastAttributes{DType::f32}, Phase::backward)[0];
}

// The sums of a bucket, of those that this rank gets.
std::vector<TensorId> sum_of(Insertion& edit, int32_t place, size_t number, const GradientBucket& b,
                             const DataParallelOptions& o) {
  const std::string layer = fmt::format("gradients.{}", number);
  if (!o.delay) {
    const OpKind kind = o.sharded ? OpKind::reduce_scatter : OpKind::all_reduce;
    return edit.apply(place, kind, layer, b.gradients, CollectiveAttributes{o.rank, b.ranks, b.owners}, Phase::communicate);
  }
  std::vector<DelayedAddend> addends;
  for (size_t i = 0; i < b.gradients.size(); ++i)
    addends.push_back({exact(edit, place, b.gradients[i]), edit.program().tensor(b.parameters[i]).name});
  if (number == 0) addends.push_back({edit.scalar(counted, b.ranks[0] == o.rank ? 1 : 0), counted});
  return add_delayed_sum(edit, place, layer, addends, {o.rank, b.ranks, {}, *o.delay});
}

}  // namespace

Differentiated data_parallel(Differentiated step, const DataParallelOptions& options) {
  check(step, options);
  const auto buckets = gradient_buckets(step, options);
  const double share = static_cast<double>(options.samples) / static_cast<double>(options.total_samples);
  Program weighed = weigh_losses(std::move(step.program),
                                 {.batch = share, .rank = options.rank,
                                  .ranks = options.delay ? std::vector<int32_t>{} : options.replicas});
  const auto last = static_cast<int32_t>(weighed.operations.size()) - 1;
  Insertion edit{std::move(weighed)};
  Differentiated result;
  for (const auto& pair : step.gradients) {  // those that nobody else has
    const auto has = [&](const GradientBucket& b) { return std::ranges::count(b.parameters, pair.first) > 0; };
    if (std::ranges::none_of(buckets, has)) result.gradients.push_back(pair);
  }
  int32_t place = -1;
  for (size_t i = 0; i < buckets.size(); ++i) {
    const GradientBucket& b = buckets[i];
    for (const TensorId gradient : b.gradients) place = std::max(place, edit.writer(gradient));
    // Other stages come to it late: what this stage's slices sum meanwhile must not have to wait behind it.
    if (b.ranks != options.replicas) place = last;
    const auto sums = sum_of(edit, place, i, b, options);
    auto sum = sums.begin();
    for (size_t j = 0; j < b.parameters.size(); ++j)
      if (!options.sharded || b.owners[j] == options.rank) result.gradients.emplace_back(b.parameters[j], *sum++);
  }
  result.program = edit.finish();
  return result;
}

ParallelUpdate parallel_update(const Differentiated& step, const DataParallelOptions& options) {
  if (options.sharded && options.replicas.back() >= options.world)
    throw Error(Fault::usage,
                fmt::format("there is a rank {} in a world of {}", options.replicas.back(), options.world));
  ParallelUpdate update{.rank = options.rank};
  update.norm_ranks = options.model;
  if (options.sharded) {
    update.norm_ranks.clear();
    for (int32_t r = 0; r < options.world; ++r) update.norm_ranks.push_back(r);
  }
  const auto name = [&](TensorId id) { return step.program.tensor(id).name; };
  for (const auto& [parameter, gradient] : step.gradients) update.counted.insert(name(parameter));
  const auto buckets = gradient_buckets(step, options);
  if (options.delay && !buckets.empty()) update.factor = fmt::format("{}:{}:reduced", first_bucket, counted);
  for (const GradientBucket& b : buckets) {
    ParallelUpdate::Handover handover{b.ranks, {}, b.owners};
    for (size_t i = 0; i < b.parameters.size(); ++i) {
      handover.parameters.push_back(name(b.parameters[i]));
      if (options.sharded && b.owners[i] != options.rank) update.counted.erase(name(b.parameters[i]));
    }
    if (options.sharded) update.handovers.push_back(std::move(handover));
  }
  const auto in_model = [&](int32_t r) { return std::ranges::count(options.model, r) > 0; };
  for (const auto& [parameter, ranks] : options.tied) {  // equal sums on several stages
    const auto first = std::ranges::find_if(ranks, in_model);
    if (!options.sharded && first != ranks.end() && *first != options.rank) update.counted.erase(parameter);
  }
  if (!options.first_slice)
    std::erase_if(update.counted, [&](const std::string& p) { return !step.program.find(p)->part; });
  return update;
}

}  // namespace gpusizer
