// SPDX-License-Identifier: Apache-2.0
// A case made ready without touching the device: data opened, programs built and lowered, memory planned, steps counted.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bench/audit.hpp"
#include "bench/run_config/run_config.hpp"
#include "bench/runner/measuring_loop.hpp"
#include "bench/runner/rank_place.hpp"
#include "gpusizer/error.hpp"
#include "workloads/backend/backend.hpp"
#include "workloads/data/sample_source.hpp"
#include "workloads/lowering/memory_plan.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/facts.hpp"

namespace gpusizer {

// Thrown when the plan alone shows that a case cannot fit; the case's status becomes `oom`.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& what, const std::string& hint = "") : Error(Fault::failed, what, "", hint) {}
};

// The programs for one bucket of the data, as indices into the lowered ones; -1: not needed.
struct BucketPrograms {
  int train = -1, train_tail = -1, evaluate = -1, evaluate_tail = -1;
};

// All programs of a rank share parameters and one arena.
struct CasePrograms {
  std::vector<LoweredProgram> lowered;
  std::vector<BucketPrograms> buckets;
  int average = -1;  // makes equal what replicas keep for themselves: running statistics, in local SGD weights too
  int average_all = -1;  // local SGD: the optimizer's state too, so that one rank's is what a checkpoint needs
};

// One rank of a case, in this process.
struct PreparedRank {
  RankPlace place;
  CasePrograms programs;
  MemoryPlan plan;
  std::vector<int> cores;  // that it is bound to; empty: all that the process may use
};

// For mode "infer" programs, plan, epoch and loop stay empty, and the facts are of the forward pass.
struct PreparedCase {
  CaseConfig config;
  const ModelEntry* model = nullptr;
  ModelOptions model_options;  // complete
  std::unique_ptr<SampleSource> train_data, test_data;  // test_data only where the case evaluates
  std::unique_ptr<Backend> backend;
  Device device;  // with the threads that will compute, of each rank
  std::vector<PreparedRank> ranks;  // those of this process; of one rank alone it is the only one
  Facts facts;  // of the unsplit model's training step in the largest bucket; what is per sample: mean over the buckets
  std::vector<EpochShape> epoch;  // for each bucket, in samples of all replicas
  bool shares_cores = false;  // some ranks have no core of their own
  std::int64_t left_out_samples = 0;  // of an epoch: tails with fewer samples than there are replicas
  LoopPlan loop;
  std::int64_t loader_threads = 1;
  std::int64_t loader_bytes = 0;  // batches that the loaders of all these ranks hold

  std::int64_t steps_per_epoch() const;
  std::int64_t tails_per_epoch() const;  // its last steps
  std::int64_t planned_bytes() const;    // of the programs of all these ranks
};

// An epoch of made-up images has a length only if somebody gave it one, or asked for epochs.
bool is_endless(const CaseConfig& config);

// The part of a case's ranks that is in this process.
struct LocalRanks {
  std::optional<std::int64_t> only{};  // nothing: all of them, as threads
  // Of the processes on this machine that may use the same processor cores: how many, and which this is.
  int neighbours = 1, place = 0;
};

// Throws Error: usage for what cannot be (a batch larger than the data, shapes that do not fit, a layout that the model
// cannot have), input or environment for missing or damaged data and devices.
PreparedCase prepare_case(const CaseConfig& config, const LocalRanks& local = {});

// Throws OutOfMemory when plan and loaders need more than `available_bytes`.
void require_memory(const PreparedCase& prepared, std::int64_t available_bytes);

}  // namespace gpusizer
