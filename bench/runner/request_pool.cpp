// SPDX-License-Identifier: Apache-2.0
// Reads and copies batches.
#include "bench/runner/request_pool.hpp"

#include <algorithm>

#include "workloads/data/batch_dealer.hpp"
#include "workloads/data/loader.hpp"

namespace gpusizer {

RequestPool::RequestPool(const PreparedCase& p, const SampleSource& source, std::int64_t most_batches) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  Loader loader(source, {.batch = *p.config.batch,
                         .threads = p.loader_threads,
                         .prefetch_batches = 1,
                         .shuffle = true,
                         .seed = p.config.seed,
                         .drop_last = true});
  loader.start_epoch(0);
  std::size_t bytes = 0;
  while (static_cast<std::int64_t>(batches_.size()) < most_batches && (batches_.empty() || bytes < most_bytes)) {
    const auto batch = loader.next();
    if (!batch) break;
    Kept& kept = batches_.emplace_back(Kept{batch->bucket, batch->samples, {}, {}});
    for (std::size_t field = 0; field < batch->fields.size(); ++field) {
      const auto* data = static_cast<const std::byte*>(batch->data(field));
      const auto count = static_cast<std::size_t>(batch->samples * batch->fields[field].values()) * 4;
      kept.names.push_back(batch->fields[field].name);
      kept.values.emplace_back(data, data + count);
      bytes += count;
    }
  }
  for (const Kept& kept : batches_) {
    BatchView& view = views_.emplace_back(BatchView{.bucket = kept.bucket, .samples = kept.samples});
    for (std::size_t field = 0; field < kept.names.size(); ++field)
      view.fields.emplace_back(kept.names[field], kept.values[field].data());
  }
}

const SampleSource& request_source(const PreparedCase& p) {
  if (!p.test_data) return *p.train_data;
  const auto sizes = bucket_sizes(*p.test_data);
  return std::ranges::any_of(sizes, [&](std::int64_t size) { return size >= *p.config.batch; }) ? *p.test_data
                                                                                                : *p.train_data;
}

}  // namespace gpusizer
