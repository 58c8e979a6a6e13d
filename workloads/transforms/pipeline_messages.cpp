// SPDX-License-Identifier: Apache-2.0
// Puts jobs and messages in order.
#include "workloads/transforms/pipeline_messages.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace gpusizer {

std::vector<PipelineJob> job_order(PipelineSchedule schedule, int32_t stage, int32_t stages, int32_t micro_batches,
                                   bool with_backward) {
  const int32_t ahead = schedule == PipelineSchedule::gpipe || !with_backward
                            ? micro_batches
                            : std::min(micro_batches, stages - 1 - stage);
  std::vector<PipelineJob> order;
  for (int32_t i = 0; i < ahead; ++i) order.push_back({false, i});
  for (int32_t i = 0; i < micro_batches; ++i) {
    if (ahead + i < micro_batches) order.push_back({false, ahead + i});
    if (with_backward) order.push_back({true, i});
  }
  return order;
}

namespace {

size_t number_of(const std::vector<PipelineJob>& order, const PipelineJob& job) {
  return static_cast<size_t>(std::ranges::find(order, job) - order.begin());
}

// One message with the operations that make its contents, and the first job that needs any of them.
struct Draft {
  std::vector<std::pair<int32_t, TensorId>> contents;
  size_t needed_at = 0;
};
// By receiving stage, sending stage and the number of the sending job: messages between two stages in order.
using Drafts = std::map<std::tuple<int32_t, int32_t, size_t>, Draft>;

Drafts drafts(const std::vector<PipelineReads>& reads, const std::vector<PipelinePlace>& places,
              const std::vector<std::vector<PipelineJob>>& orders) {
  Drafts result;
  for (const PipelineReads& read : reads) {
    const PipelinePlace& made = places[static_cast<size_t>(read.writer)];
    const size_t sent_at = number_of(orders[static_cast<size_t>(made.stage)], made.job);
    const size_t needed_at = number_of(orders[static_cast<size_t>(read.stage)], read.job);
    const auto [it, first] = result.try_emplace({read.stage, made.stage, sent_at});
    Draft& draft = it->second;
    draft.needed_at = first ? needed_at : std::min(draft.needed_at, needed_at);
    if (std::ranges::count(draft.contents, read.tensor, &std::pair<int32_t, TensorId>::second) == 0)
      draft.contents.emplace_back(read.writer, read.tensor);
  }
  return result;
}

// Messages arrive in order, and a stage does its jobs in order.
int32_t needed_until(const Drafts& all, int32_t stage, int32_t from, size_t job) {
  return static_cast<int32_t>(std::ranges::count_if(all, [&](const auto& entry) {
    const auto& [key, draft] = entry;
    return std::get<0>(key) == stage && std::get<1>(key) == from && draft.needed_at <= job;
  }));
}

StageMessage message_of(const std::tuple<int32_t, int32_t, size_t>& key, Draft draft,
                        const std::vector<std::vector<PipelineJob>>& orders) {
  const auto& [to, from, sent_at] = key;
  std::ranges::sort(draft.contents);
  StageMessage message{.from = from,
                       .to = to,
                       .job = orders[static_cast<size_t>(from)][sent_at],
                       .received_at = draft.needed_at > 0 ? draft.needed_at - 1 : 0};
  for (const auto& content : draft.contents) message.contents.push_back(content.second);
  return message;
}

}  // namespace

std::vector<std::vector<StageMessage>> stage_messages(const std::vector<PipelineReads>& reads,
                                                      const std::vector<PipelinePlace>& places,
                                                      const std::vector<std::vector<PipelineJob>>& orders) {
  Drafts all = drafts(reads, places, orders);
  // A message that is sent later must not be needed earlier: then the earlier one is received in time for it.
  for (auto it = all.rbegin(), after = it; it != all.rend(); after = it++)
    if (it != after && std::get<0>(it->first) == std::get<0>(after->first) &&
        std::get<1>(it->first) == std::get<1>(after->first))
      it->second.needed_at = std::min(it->second.needed_at, after->second.needed_at);
  std::vector<std::vector<StageMessage>> result(orders.size());
  // Of those that one job needs, the first to be made comes first: a sender must not wait for a later one's sender.
  const auto made_after = [](const StageMessage& m) { return m.job.backward ? -m.from : m.from; };
  std::vector<std::tuple<size_t, int32_t, StageMessage>> list;
  for (const auto& [key, draft] : all) {
    StageMessage message = message_of(key, draft, orders);
    message.sends_before = needed_until(all, message.from, message.to, std::get<2>(key));
    list.emplace_back(draft.needed_at, made_after(message), std::move(message));
  }
  std::ranges::stable_sort(list, {},
                           [](const auto& entry) { return std::pair(std::get<0>(entry), std::get<1>(entry)); });
  for (auto& [needed_at, order, message] : list) {
    const auto to = static_cast<size_t>(message.to);
    result[to].push_back(std::move(message));
  }
  return result;
}

}  // namespace gpusizer
