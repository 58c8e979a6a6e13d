// SPDX-License-Identifier: Apache-2.0
// Arithmetic of ranks.
#include "bench/runner/rank_place.hpp"

#include <fmt/format.h>

#include <functional>

#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

using Same = std::function<bool(const RankPlace&)>;

std::vector<std::int32_t> ranks_where(const ParallelOptions& layout, const Same& same) {
  std::vector<std::int32_t> ranks;
  for (std::int64_t rank = 0; rank < layout.ranks(); ++rank)
    if (const RankPlace place = place_of(layout, rank); same(place)) ranks.push_back(place.rank);
  return ranks;
}

}  // namespace

RankPlace place_of(const ParallelOptions& layout, std::int64_t rank) {
  if (rank < 0 || rank >= layout.ranks())
    throw Error(Fault::usage, fmt::format("there is no rank {} among {}", rank, layout.ranks()), "--parallel",
                "start as many processes as the layout has ranks");
  const std::int64_t stages = rank / layout.tp;
  return {static_cast<std::int32_t>(rank), stages / layout.pp, stages % layout.pp, rank % layout.tp};
}

std::vector<std::int32_t> replica_ranks(const ParallelOptions& layout, const RankPlace& own) {
  return ranks_where(layout, [&](const RankPlace& p) { return p.stage == own.stage && p.slice == own.slice; });
}

std::vector<std::int32_t> stage_ranks(const ParallelOptions& layout, const RankPlace& own) {
  return ranks_where(layout, [&](const RankPlace& p) { return p.replica == own.replica && p.slice == own.slice; });
}

std::vector<std::int32_t> slice_ranks(const ParallelOptions& layout, const RankPlace& own) {
  return ranks_where(layout, [&](const RankPlace& p) { return p.replica == own.replica && p.stage == own.stage; });
}

std::vector<std::int32_t> model_ranks(const ParallelOptions& layout, const RankPlace& own) {
  return ranks_where(layout, [&](const RankPlace& p) { return p.replica == own.replica; });
}

std::vector<std::int32_t> all_ranks(const ParallelOptions& layout) {
  return ranks_where(layout, [](const RankPlace&) { return true; });
}

std::int64_t whole_batch(const CaseConfig& config) { return config.parallel.dp * *config.batch; }

std::string rank_text(const ParallelOptions& layout, std::int64_t rank) {
  const RankPlace place = place_of(layout, rank);
  std::string words;
  const auto add = [&](std::int64_t extent, const char* name, std::int64_t index) {
    if (extent > 1) words += fmt::format("{}{} {}", words.empty() ? "" : ", ", name, index);
  };
  if (layout.dp < layout.ranks()) {
    add(layout.dp, "replica", place.replica);
    add(layout.pp, "stage", place.stage);
    add(layout.tp, "slice", place.slice);
  }
  return words.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} ({})", rank, words);
}

}  // namespace gpusizer
