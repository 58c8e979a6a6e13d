// SPDX-License-Identifier: Apache-2.0
// The loader's ring of buffers, its threads, and the measuring of waits.
#include "workloads/data/loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <system_error>
#include <utility>

#include "gpusizer/error.hpp"
#include "workloads/data/data_file.hpp"

namespace gpusizer {

namespace {

constexpr int64_t most_threads = 1024, most_prefetch_batches = 1024, most_replicas = 1'000'000;
constexpr size_t most_fields = 16;
constexpr int64_t most_chunk_samples = 32;  // large enough to make the lock cheap, small enough to spread a batch

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void need(int64_t value, int64_t least, int64_t most, const std::string& what) {
  if (value >= least && value <= most) return;
  throw Error(Fault::usage, fmt::format("the loader's {} is {}; it must be {} to {}", what, value, least, most));
}

constexpr int64_t value_bytes = 4;  // of every ValueType

// Of one sample's field, in the bucket where it is largest.
int64_t largest_field(const SampleSource& source, size_t field) {
  int64_t most = 0;
  for (int64_t bucket = 0; bucket < source.buckets(); ++bucket)
    most = std::max(most, source.fields(bucket)[field].values());
  return most;
}

void check_fields(const SampleSource& source) {
  for (int64_t bucket = 0; bucket < source.buckets(); ++bucket) {
    if (source.fields(bucket).size() == source.fields().size() && source.fields().size() <= most_fields) continue;
    throw Error(Fault::failed, fmt::format("buckets must have the same fields, at most {}", most_fields), source.name());
  }
}

// The memory is asked for before the samples are counted and the buffers made.
void check_memory(const LoaderOptions& options, const SampleSource& source) {
  double sample_bytes = sizeof(int64_t);
  for (size_t field = 0; field < source.fields().size(); ++field)
    sample_bytes += static_cast<double>(largest_field(source, field)) * value_bytes;
  const int64_t whole = std::min(options.batch, source.size());
  const int64_t samples = options.share.in_turn ? whole : part_samples(whole, options.share);
  const double bytes =
      static_cast<double>(samples) * static_cast<double>(options.prefetch_batches + 1) * sample_bytes;
  if (bytes <= static_cast<double>(most_memory_bytes())) return;
  throw Error(Fault::failed,
              fmt::format("out of memory: {} buffers of {} samples of {:.0f} bytes need {:.1f} GiB",
                          options.prefetch_batches + 1, samples, sample_bytes, bytes / (1 << 30)),
              source.name(), "use a smaller batch");
}

LoaderOptions checked(LoaderOptions options, const SampleSource& source) {
  need(options.batch, 1, std::numeric_limits<int64_t>::max(), "batch");
  need(options.threads, 0, most_threads, "number of threads");
  need(options.prefetch_batches, 1, most_prefetch_batches, "number of prefetched batches");
  need(options.share.replicas, 1, options.share.in_turn ? most_replicas : options.batch, "number of replicas");
  need(options.share.replica, 0, options.share.replicas - 1, "replica");
  check_fields(source);
  // The dealer has a better word for a batch that can never be full.
  if (!options.drop_last || options.batch <= source.size()) check_memory(options, source);
  if (options.threads == 0) options.threads = std::max(1U, std::thread::hardware_concurrency());
  if (!options.now_seconds) options.now_seconds = steady_seconds;
  return options;
}

int64_t divide_up(int64_t value, int64_t by) { return value / by + (value % by != 0 ? 1 : 0); }

}  // namespace

Loader::Loader(const SampleSource& source, LoaderOptions options)
    : source_(source),
      options_(checked(std::move(options), source)),
      dealer_(source, {options_.batch, options_.shuffle, options_.seed, options_.drop_last, options_.share}),
      chunk_samples_(
          std::clamp<int64_t>(divide_up(dealer_.batch_samples(), 2 * options_.threads), 1, most_chunk_samples)),
      slots_(static_cast<size_t>(options_.prefetch_batches + 1)) {
  make_slots();
  start_threads();
}

void Loader::make_slots() {
  for (Slot& slot : slots_) {
    slot.samples.reserve(static_cast<size_t>(dealer_.batch_samples()));
    for (size_t field = 0; field < source_.fields().size(); ++field) {
      const int64_t bytes = dealer_.batch_samples() * largest_field(source_, field) * value_bytes;
      slot.storage.emplace_back(static_cast<size_t>(bytes));
      slot.buffers.push_back(slot.storage.back().data());
    }
  }
}

void Loader::start_threads() {
  threads_.reserve(static_cast<size_t>(options_.threads));
  try {
    for (int64_t i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    const size_t started = threads_.size();
    stop();
    throw Error(
        Fault::environment,
        fmt::format("of {} loader threads only {} could be started: {}", options_.threads, started, error.what()), "",
        "use fewer loader threads");
  } catch (...) {
    stop();  // a thread that is not joined would end the program
    throw;
  }
}

Loader::~Loader() { stop(); }

void Loader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    abandon_ = true;
  }
  work_there_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Loader::start_epoch(int64_t epoch, int64_t first_batch) {
  need(first_batch, 0, batches_per_epoch() - 1, "first batch");
  std::unique_lock lock(mutex_);
  end_batch_ = 0;  // no thread takes more
  abandon_ = true;
  chunks_done_.wait(lock, [&] { return chunks_taken_ == 0; });
  abandon_ = false;
  for (Slot& slot : slots_) {
    slot.batch = -1;
    slot.error = nullptr;
  }
  first_epoch_ = epoch;
  dealer_.start_epoch(epoch);
  for (int64_t batch = 0; batch < first_batch; ++batch) dealer_.deal(slots_.front().samples);
  open_batch_ = next_batch_ = free_before_ = first_batch;
  open_sample_ = 0;
  end_batch_ = options_.endless ? std::numeric_limits<int64_t>::max() : batches_per_epoch();
  started_ = true;
  work_there_.notify_all();
}

// --- The threads' side ---------------------------------------------------------------------------------------------

bool Loader::has_work() const {
  return open_batch_ < end_batch_ && open_batch_ < free_before_ + static_cast<int64_t>(slots_.size());
}

Loader::Chunk Loader::take_chunk() {
  Slot& slot = slot_of(open_batch_);
  if (open_sample_ == 0) {
    slot.bucket = dealer_.deal(slot.samples);
    slot.whole_samples = dealer_.whole_samples();
    slot.batch = open_batch_;
    slot.unread = static_cast<int64_t>(slot.samples.size());
    slot.error = nullptr;
  }
  const auto samples = static_cast<int64_t>(slot.samples.size());
  const Chunk chunk{open_batch_, open_sample_, std::min(chunk_samples_, samples - open_sample_)};
  open_sample_ += chunk.count;
  if (open_sample_ == samples) {
    ++open_batch_;
    open_sample_ = 0;
  }
  ++chunks_taken_;
  return chunk;
}

void Loader::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_there_.wait(lock, [&] { return stopping_ || has_work(); });
    if (stopping_) return;
    const Chunk chunk = take_chunk();
    lock.unlock();
    fill(chunk);
    lock.lock();
  }
}

// What a taken chunk belongs to stays as it is until the chunk is finished, so it is read without the lock.
void Loader::fill(const Chunk& chunk) {
  const Slot& slot = slot_of(chunk.batch);
  const std::vector<Field>& fields = source_.fields(slot.bucket);
  const SampleContext context{options_.seed, epoch_of(chunk.batch), options_.augment};
  int64_t sample = chunk.first;
  std::exception_ptr error;
  try {
    for (; sample < chunk.first + chunk.count && !abandon_; ++sample) {
      std::array<void*, most_fields> places;
      for (size_t field = 0; field < fields.size(); ++field)
        places[field] = static_cast<std::byte*>(slot.buffers[field]) + sample * fields[field].values() * value_bytes;
      source_.read(slot.samples[static_cast<size_t>(sample)], context, std::span(places).first(fields.size()));
    }
  } catch (...) {
    error = std::current_exception();
  }
  finish(chunk, std::move(error), sample);
}

void Loader::finish(const Chunk& chunk, std::exception_ptr error, int64_t error_sample) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slot_of(chunk.batch);
  if (error && (!slot.error || error_sample < slot.error_sample)) {
    slot.error = std::move(error);
    slot.error_sample = error_sample;
    end_batch_ = std::min(end_batch_, chunk.batch + 1);  // nothing after it will be handed out
  }
  slot.unread -= chunk.count;
  if (slot.unread == 0) batch_ready_.notify_one();
  if (--chunks_taken_ == 0) chunks_done_.notify_all();
}

// --- The caller's side ---------------------------------------------------------------------------------------------

bool Loader::is_ready(int64_t batch) const {
  const Slot& slot = slots_[static_cast<size_t>(batch) % slots_.size()];
  return slot.batch == batch && slot.unread == 0;
}

int64_t Loader::ready_batches() const {
  const std::lock_guard lock(mutex_);
  int64_t batch = next_batch_;
  while (batch < end_batch_ && is_ready(batch)) ++batch;
  return batch - next_batch_;
}

void Loader::await(std::unique_lock<std::mutex>& lock, int64_t batch) {
  if (is_ready(batch)) return;
  const double begin = options_.now_seconds();
  batch_ready_.wait(lock, [&] { return is_ready(batch); });
  last_wait_seconds_ = options_.now_seconds() - begin;
  waited_seconds_ += last_wait_seconds_;
}

std::optional<Batch> Loader::next() {
  std::unique_lock lock(mutex_);
  if (!started_) throw Error(Fault::failed, "the loader was asked for a batch before an epoch was started");
  last_wait_seconds_ = 0;
  if (free_before_ < next_batch_) {
    free_before_ = next_batch_;  // the caller is done with the batch of last time
    work_there_.notify_all();
  }
  if (next_batch_ >= end_batch_) return std::nullopt;
  await(lock, next_batch_);
  Slot& slot = slot_of(next_batch_);
  if (slot.error) {
    end_batch_ = next_batch_;
    std::rethrow_exception(std::exchange(slot.error, nullptr));
  }
  const int64_t batch = next_batch_++;
  return Batch{.fields = source_.fields(slot.bucket),
               .buffers = {slot.buffers.data(), slot.buffers.size()},
               .samples = static_cast<int64_t>(slot.samples.size()),
               .whole_samples = slot.whole_samples,
               .epoch = epoch_of(batch),
               .ends_epoch = batch % batches_per_epoch() == batches_per_epoch() - 1,
               .bucket = slot.bucket};
}

}  // namespace gpusizer
