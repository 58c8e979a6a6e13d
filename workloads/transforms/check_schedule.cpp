// SPDX-License-Identifier: Apache-2.0
// Compares what ranks exchange, then lets all of them run without computing anything.
#include "workloads/transforms/check_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/transforms/check_schedule_run.hpp"

namespace gpusizer {

namespace {

std::string contents(const std::vector<ExchangedTensor>& list) {
  std::string text;
  for (const ExchangedTensor& t : list)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(t.dtype), to_string(t.shape));
  return text;
}

std::string call(const Exchange& e) {
  const std::string later = e.delay == 0 ? "" : fmt::format(", told {} steps later", e.delay);
  return fmt::format("{} '{}' of {}{}", e.name, e.layer, contents(e.tensors), later);
}

// The first difference of two ranks' collectives of one group, as a sentence; "" where they agree.
std::string compare(const std::vector<int32_t>& group, int32_t a, const std::vector<const Exchange*>& of_a, int32_t b,
                    const std::vector<const Exchange*>& of_b) {
  const std::string ranks = fmt::format("among ranks {}", fmt::join(group, ", "));
  for (size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i)
    if (!of_a[i]->same_as(*of_b[i]))
      return fmt::format("collective {} {}: rank {} runs {}, rank {} runs {}", i + 1, ranks, a, call(*of_a[i]), b,
                         call(*of_b[i]));
  if (of_a.size() == of_b.size()) return "";
  const bool a_more = of_a.size() > of_b.size();
  const Exchange& extra = a_more ? *of_a[of_b.size()] : *of_b[of_a.size()];
  return fmt::format("rank {} runs {} {}, and rank {} has no collective {} of that group", a_more ? a : b, call(extra),
                     ranks, a_more ? b : a, std::min(of_a.size(), of_b.size()) + 1);
}

void compare_collectives(const Exchanges& all, std::vector<std::string>& faults) {
  for (const auto& [group, members] : all.collectives) {
    const auto stranger = std::ranges::find_if(
        group, [&](int32_t rank) { return rank < 0 || static_cast<size_t>(rank) >= all.ranks.size(); });
    if (stranger != group.end()) {
      faults.push_back(fmt::format("rank {} runs {} with rank {}, which does not exist", members.begin()->first,
                                   call(*members.begin()->second[0]), *stranger));
      continue;
    }
    const auto of = [&](int32_t rank) {
      const auto it = members.find(rank);
      return it == members.end() ? std::vector<const Exchange*>{} : it->second;
    };
    for (size_t i = 1; i < group.size(); ++i)
      if (std::string fault = compare(group, group[0], of(group[0]), group[i], of(group[i])); !fault.empty())
        faults.push_back(std::move(fault));
  }
}

void compare_messages(const Exchanges& all, std::vector<std::string>& faults) {
  for (const auto& [pair, messages] : all.messages) {
    const auto& [from, to] = pair;
    const auto& [sends, receives] = messages;
    for (size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
      if (i >= receives.size())
        faults.push_back(fmt::format("rank {} runs {} to rank {}, which never receives it", from, call(*sends[i]), to));
      else if (i >= sends.size())
        faults.push_back(
            fmt::format("rank {} runs {} from rank {}, which never sends it", to, call(*receives[i]), from));
      else if (sends[i]->tensors != receives[i]->tensors)
        faults.push_back(fmt::format("message {} from rank {} to rank {}: {} meets {}", i + 1, from, to,
                                     call(*sends[i]), call(*receives[i])));
      else
        continue;
      break;  // what comes after a mismatch tells nothing new
    }
  }
}

void check_ranks(const Exchanges& all, std::vector<std::string>& faults) {
  for (size_t rank = 0; rank < all.ranks.size(); ++rank)
    for (const Exchange& e : all.ranks[rank])
      if (e.is_collective() && (e.rank != static_cast<int32_t>(rank) || std::ranges::count(e.peers, e.rank) == 0))
        faults.push_back(fmt::format("rank {} runs {} as if it were rank {}", rank, call(e), e.rank));
      else if (e.kind == OpKind::send && e.peers[0] == static_cast<int32_t>(rank))
        faults.push_back(fmt::format("rank {} exchanges {} with itself", rank, call(e)));
}

}  // namespace

std::vector<std::string> check_schedule(std::span<const Program> ranks) {
  std::vector<std::string> faults;
  const Exchanges all = exchanges(ranks);
  check_ranks(all, faults);
  compare_collectives(all, faults);
  compare_messages(all, faults);
  if (!faults.empty()) return faults;
  if (std::string stuck = run_to_the_end(ranks, all); !stuck.empty()) faults.push_back(std::move(stuck));
  return faults;
}

void require_schedule(std::span<const Program> ranks) {
  const auto faults = check_schedule(ranks);
  if (faults.empty()) return;
  const std::string more = faults.size() == 1 ? "" : fmt::format(" (and {} more faults)", faults.size() - 1);
  throw Error(Fault::usage, fmt::format("the ranks' programs do not fit together: {}{}", faults[0], more));
}

}  // namespace gpusizer
