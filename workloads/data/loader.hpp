// SPDX-License-Identifier: Apache-2.0
// The prefetching loader: threads read samples ahead into reused buffers, and the step's waiting for data is measured.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "workloads/data/batch_dealer.hpp"
#include "workloads/data/sample_source.hpp"

namespace gpusizer {

struct LoaderOptions {
  int64_t batch = 1;             // samples, of all replicas; a smaller data set gives batches of its own size
  int64_t threads = 0;           // that read; 0: one per core
  int64_t prefetch_batches = 2;  // that may be ready or in the making besides the one in use
  bool shuffle = false;          // by (seed, epoch)
  uint64_t seed = 0;
  bool drop_last = false;  // leave out the shorter batch (of each bucket) at the end of an epoch
  bool augment = false;    // passed on to the source
  Sharing share{};         // the part of one of several replicas
  bool endless = false;    // epochs follow each other without a stop, prefetched across the boundary
  // Monotonic seconds; only asked when next() has to wait. Empty: the steady clock. For tests.
  std::function<double()> now_seconds;
};

// Samples of one bucket. Valid until the following next(), start_epoch() or the loader's end.
struct Batch {
  std::span<const Field> fields;         // what one sample consists of
  std::span<const void* const> buffers;  // one for each field: samples x the field's values, row-major, of its type
  int64_t samples = 0;                   // that are really in it: a tail is shorter, nothing is ever padded
  int64_t whole_samples = 0;             // of all replicas
  int64_t epoch = 0;
  bool ends_epoch = false;
  int64_t bucket = 0;

  const void* data(size_t field) const { return buffers[field]; }
  // The values of a field; T is float or int32_t as the field's type says.
  template <class T>
  std::span<const T> values(size_t field) const {
    return {static_cast<const T*>(data(field)), static_cast<size_t>(samples * fields[field].values())};
  }
};

// Batches and their order depend on the options and the epoch alone, never on threads. One thread calls next().
// The source must outlive the loader.
class Loader {
 public:
  // Throws Error for options that cannot be: usage, or failed when the buffers would take over half of the memory.
  Loader(const SampleSource& source, LoaderOptions options);
  ~Loader();  // waits for no more than the samples that are being read
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Begins (again) at a batch of `epoch`, the first one or (where a run goes on) a later one of that epoch, without
  // reading the samples before it; what was prefetched is dropped.
  void start_epoch(int64_t epoch, int64_t first_batch = 0);

  // The next batch; nothing at the end of the epoch (endless: never) and after an error. When a sample could not be
  // read, all batches before its own are handed out, then its error is thrown, once, as the source threw it.
  std::optional<Batch> next();

  int64_t batches_per_epoch() const { return dealer_.batches_per_epoch(); }
  int64_t samples_per_epoch() const { return dealer_.samples_per_epoch(); }

  double waited_seconds() const { return waited_seconds_; }        // of all next() so far
  double last_wait_seconds() const { return last_wait_seconds_; }  // of the last next(): 0 when its batch was ready
  int64_t ready_batches() const;                                   // prefetched and complete

 private:
  struct Slot {
    std::vector<std::vector<std::byte>> storage;  // one for each field, large enough for every bucket
    std::vector<void*> buffers;                   // where the storage is
    std::vector<int64_t> samples;                 // of the batch, by their index in the source
    int64_t bucket = 0, whole_samples = 0;
    int64_t batch = -1;  // which one is in it
    int64_t unread = 0;  // samples still to be read
    std::exception_ptr error;
    int64_t error_sample = 0;  // its place in the batch: of several errors the first sample's counts
  };
  // Samples first .. first + count - 1 of a batch: what a thread takes at a time.
  struct Chunk {
    int64_t batch, first, count;
  };

  void make_slots();
  void start_threads();
  void work();
  Chunk take_chunk();
  void fill(const Chunk& chunk);
  void finish(const Chunk& chunk, std::exception_ptr error, int64_t error_sample);
  bool has_work() const;
  bool is_ready(int64_t batch) const;
  void stop();
  Slot& slot_of(int64_t batch) { return slots_[static_cast<size_t>(batch) % slots_.size()]; }
  int64_t epoch_of(int64_t batch) const { return first_epoch_ + batch / batches_per_epoch(); }
  void await(std::unique_lock<std::mutex>& lock, int64_t batch);

  const SampleSource& source_;
  const LoaderOptions options_;
  BatchDealer dealer_;
  int64_t chunk_samples_ = 1;

  mutable std::mutex mutex_;  // guards the dealer and what follows, except the values of slots that are being filled
  std::condition_variable work_there_, batch_ready_, chunks_done_;
  std::vector<Slot> slots_;
  int64_t first_epoch_ = 0;   // batches are numbered from 0 at start_epoch()
  int64_t end_batch_ = 0;     // one past the last that will be read
  int64_t open_batch_ = 0;    // the one whose chunks are being handed out
  int64_t open_sample_ = 0;   // its first sample that nobody has taken
  int64_t next_batch_ = 0;    // the one that next() gives out next
  int64_t free_before_ = 0;   // the slots of batches before this one may be filled again
  int64_t chunks_taken_ = 0;  // being read now
  bool stopping_ = false, started_ = false;
  std::atomic<bool> abandon_ = false;  // what is being read is not wanted any more

  double waited_seconds_ = 0, last_wait_seconds_ = 0;  // used by the caller's thread only
  std::vector<std::thread> threads_;                   // last: they use all of the above
};

}  // namespace gpusizer
