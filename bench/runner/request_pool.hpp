// SPDX-License-Identifier: Apache-2.0
// Batches that were read before the clock starts, handed out in turn: a request's data are in memory when it comes.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/runner/inference_executor.hpp"
#include "bench/serving/serving_loop.hpp"

namespace gpusizer {

class RequestPool {
 public:
  // Whole batches of `source`, in an order that the seed decides: at most `most_batches`, and no more bytes than 256
  // MiB (one in any case). Throws Error(usage) when the source fills no batch.
  RequestPool(const PreparedCase& prepared, const SampleSource& source, std::int64_t most_batches);

  std::size_t size() const { return batches_.size(); }
  const BatchView& batch(std::int64_t request) const {
    return views_[static_cast<std::size_t>(request) % views_.size()];
  }

 private:
  struct Kept {
    std::int64_t bucket, samples;
    std::vector<std::string> names;
    std::vector<std::vector<std::byte>> values;  // by field
  };
  std::vector<Kept> batches_;
  std::vector<BatchView> views_;
};

// The test data where they fill a batch, else the training data.
const SampleSource& request_source(const PreparedCase& prepared);

class PoolServer final : public Server {
 public:
  PoolServer(InferenceExecutor& executor, const RequestPool& pool) : executor_(executor), pool_(pool) {}
  std::int64_t serve(std::int64_t request) override {
    const BatchView& batch = pool_.batch(request);
    executor_.run(batch);
    return batch.samples;
  }

 private:
  InferenceExecutor& executor_;
  const RequestPool& pool_;
};

}  // namespace gpusizer
