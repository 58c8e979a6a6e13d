// SPDX-License-Identifier: Apache-2.0
// Which gradients are summed together, and by whom each parameter is updated where the optimizer is sharded.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "gpusizer/error.hpp"
#include "workloads/transforms/data_parallel.hpp"

namespace gpusizer {

namespace {

struct Ready {
  TensorId parameter, gradient;
  int32_t place = 0;  // of the operation that makes the gradient
};

// The gradients of the ranks of one group, and how many bytes each bucket takes.
class Group {
 public:
  Group(const Program& program, std::vector<int32_t> ranks) : program_(program), ranks_(std::move(ranks)) {}

  void add(Ready one) { list_.push_back(one); }
  std::vector<Ready>& list() { return list_; }
  const std::vector<int32_t>& ranks() const { return ranks_; }
  const std::string& name(const Ready& one) const { return program_.tensor(one.parameter).name; }
  int64_t bytes(TensorId id) const {
    return element_count(program_.tensor(id).shape) * element_bytes(program_.tensor(id).dtype);
  }

  // Gradients of one element type each. Closed when its bytes reach the limit, as PyTorch does; in the order in which
  // they are complete.
  std::vector<GradientBucket> buckets(int64_t first_limit, int64_t limit) const {
    std::map<DType, GradientBucket> open;
    std::vector<GradientBucket> closed;
    std::map<DType, int64_t> limits;
    for (const Ready& one : list_) {
      const DType type = program_.tensor(one.gradient).dtype;
      GradientBucket& b = open[type];
      b.parameters.push_back(one.parameter);
      b.gradients.push_back(one.gradient);
      b.bytes += bytes(one.gradient);
      if (b.bytes < limits.try_emplace(type, first_limit).first->second) continue;
      limits[type] = limit;
      closed.push_back(std::exchange(b, {}));
    }
    std::vector<GradientBucket> last;
    for (auto& [type, b] : open)
      if (!b.parameters.empty()) last.push_back(std::move(b));
    std::ranges::sort(last, {}, [&](const GradientBucket& b) { return place_of(b.gradients.back()); });
    closed.insert(closed.end(), last.begin(), last.end());
    for (GradientBucket& b : closed) b.ranks = ranks_;
    return closed;
  }

  // The owner of each, whatever the order in which they become ready. `loads` grows by what each rank gets.
  std::map<TensorId, int32_t> owners(std::map<int32_t, int64_t>& loads) const {
    std::vector<Ready> by_name = list_;
    std::ranges::sort(by_name, {}, [&](const Ready& one) { return name(one); });
    std::vector<int64_t> sizes, so_far;
    for (const Ready& one : by_name) sizes.push_back(bytes(one.parameter));
    for (const int32_t rank : ranks_) so_far.push_back(loads[rank]);
    const std::vector<int32_t> chosen = balanced_owners(sizes, ranks_, so_far);
    std::map<TensorId, int32_t> result;
    for (size_t i = 0; i < by_name.size(); ++i) {
      result[by_name[i].parameter] = chosen[i];
      loads[chosen[i]] += sizes[i];
    }
    return result;
  }

 private:
  int32_t place_of(TensorId gradient) const {
    return std::ranges::find(list_, gradient, &Ready::gradient)->place;
  }

  const Program& program_;
  std::vector<int32_t> ranks_;
  std::vector<Ready> list_;
};

void check_tied(const Program& p, const Ready& one, const std::vector<int32_t>& ranks, int32_t rank) {
  const std::string& name = p.tensor(one.parameter).name;
  if (std::ranges::adjacent_find(ranks, std::greater_equal{}) != ranks.end() || std::ranges::count(ranks, rank) != 1)
    throw Error(Fault::usage, fmt::format("the ranks {} that share '{}' do not ascend or leave out rank {}",
                                          fmt::join(ranks, ","), name, rank));
  if (p.tensor(one.gradient).dtype != DType::f32)  // the stages' gradients come from different operations
    throw Error(Fault::failed, fmt::format("the gradient of '{}' must be f32 to be summed over stages", name));
}

// The replicas' own group first, then those of tied parameters by their ranks: the same order everywhere.
std::vector<Group> groups(const Differentiated& step, const DataParallelOptions& o) {
  const Program& p = step.program;
  const std::vector<int32_t> written = writers(p);
  std::map<std::vector<int32_t>, Group> tied;
  std::vector<Group> result{Group{p, o.replicas}};
  for (const auto& [parameter, gradient] : step.gradients) {
    const Ready one{parameter, gradient, written[static_cast<size_t>(gradient.index)]};
    const auto it = o.tied.find(p.tensor(parameter).name);
    if (it == o.tied.end()) {
      result[0].add(one);
      continue;
    }
    check_tied(p, one, it->second, o.rank);
    tied.try_emplace(it->second, p, it->second).first->second.add(one);
  }
  std::ranges::sort(result[0].list(), {}, &Ready::place);
  for (auto& [ranks, group] : tied) {  // the stages make them in different orders
    std::ranges::sort(group.list(), {}, [&](const Ready& r) { return p.tensor(r.parameter).name; });
    result.push_back(group);
  }
  return result;
}

}  // namespace

std::vector<int32_t> balanced_owners(const std::vector<int64_t>& sizes, const std::vector<int32_t>& ranks,
                                     std::vector<int64_t> loads) {
  loads.resize(ranks.size(), 0);
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return sizes[i]; });
  std::vector<int32_t> owners(sizes.size());
  for (const size_t i : order) {
    const auto least = static_cast<size_t>(std::ranges::min_element(loads) - loads.begin());
    owners[i] = ranks[least];
    loads[least] += sizes[i];
  }
  return owners;
}

std::vector<GradientBucket> gradient_buckets(const Differentiated& step, const DataParallelOptions& options) {
  std::vector<Group> all = groups(step, options);
  std::map<int32_t, int64_t> loads;  // what the ranks of this group own of tied parameters comes first
  std::map<TensorId, int32_t> owners;
  if (options.sharded)
    for (size_t i = all.size(); i-- > 0;) {
      std::map<int32_t, int64_t> none;
      const auto chosen = all[i].owners(i == 0 ? loads : none);
      owners.insert(chosen.begin(), chosen.end());
      for (const auto& [rank, bytes] : none) loads[rank] += bytes;
    }
  std::vector<GradientBucket> result;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].ranks().size() < 2) continue;
    const int64_t first = i == 0 ? options.first_bucket_bytes : options.bucket_bytes;
    for (GradientBucket& b : all[i].buckets(first, options.bucket_bytes)) {
      if (options.sharded)
        for (const TensorId parameter : b.parameters) b.owners.push_back(owners.at(parameter));
      result.push_back(std::move(b));
    }
  }
  return result;
}

}  // namespace gpusizer
