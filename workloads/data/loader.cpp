// SPDX-License-Identifier: Apache-2.0
// The loader's ring of buffers, its threads, and the measuring of waits.
#include "workloads/data/loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <system_error>
#include <utility>

#include "gpusizer/error.hpp"
#include "workloads/data/data_file.hpp"
#include "workloads/data/epoch_order.hpp"

namespace gpusizer {

namespace {

constexpr int64_t most_threads = 1024, most_prefetch_batches = 1024;
constexpr int64_t most_chunk_samples = 32;  // large enough to make the lock cheap, small enough to spread a batch

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void need(int64_t value, int64_t least, int64_t most, const std::string& what) {
  if (value >= least && value <= most) return;
  throw Error(Fault::usage, fmt::format("the loader's {} is {}; it must be {} to {}", what, value, least, most));
}

LoaderOptions checked(LoaderOptions options, const ImageSource& source) {
  need(options.batch, 1, std::numeric_limits<int64_t>::max(), "batch");
  need(options.threads, 0, most_threads, "number of threads");
  need(options.prefetch_batches, 1, most_prefetch_batches, "number of prefetched batches");
  if (options.drop_last && options.batch > source.size()) {
    throw Error(
        Fault::usage,
        fmt::format("no batch is left: the {} samples are fewer than a batch of {}", source.size(), options.batch),
        source.name(), "use a smaller batch or keep the last one");
  }
  const double bytes = static_cast<double>(std::min(options.batch, source.size())) *
                       static_cast<double>(options.prefetch_batches + 1) *
                       static_cast<double>(source.shape().values()) * sizeof(float);
  if (bytes > static_cast<double>(most_memory_bytes())) {
    throw Error(
        Fault::failed,
        fmt::format("out of memory: {} buffers of {} samples of {} need {:.1f} GiB", options.prefetch_batches + 1,
                    std::min(options.batch, source.size()), source.shape().text(), bytes / (1 << 30)),
        source.name(), "use a smaller batch");
  }
  if (options.threads == 0) options.threads = std::max(1U, std::thread::hardware_concurrency());
  if (!options.now_seconds) options.now_seconds = steady_seconds;
  return options;
}

int64_t divide_up(int64_t value, int64_t by) { return value / by + (value % by != 0 ? 1 : 0); }

}  // namespace

Loader::Loader(const ImageSource& source, LoaderOptions options)
    : source_(source),
      options_(checked(std::move(options), source)),
      batch_samples_(std::min(options_.batch, source.size())),
      batches_per_epoch_(options_.drop_last ? source.size() / batch_samples_
                                            : divide_up(source.size(), batch_samples_)),
      chunk_samples_(std::clamp<int64_t>(divide_up(batch_samples_, 2 * options_.threads), 1, most_chunk_samples)),
      slots_(static_cast<size_t>(options_.prefetch_batches + 1)) {
  for (Slot& slot : slots_) {
    slot.images.resize(static_cast<size_t>(batch_samples_ * source.shape().values()));
    slot.labels.resize(static_cast<size_t>(batch_samples_));
  }
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

int64_t Loader::samples_per_epoch() const {
  return options_.drop_last ? batches_per_epoch_ * batch_samples_ : source_.size();
}

int64_t Loader::samples_of(int64_t batch) const {
  return std::min(batch_samples_, source_.size() - batch % batches_per_epoch_ * batch_samples_);
}

void Loader::start_epoch(int64_t epoch) {
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
  open_batch_ = open_sample_ = next_batch_ = free_before_ = 0;
  end_batch_ = options_.endless ? std::numeric_limits<int64_t>::max() : batches_per_epoch_;
  started_ = true;
  work_there_.notify_all();
}

// --- The threads' side ---------------------------------------------------------------------------------------------

bool Loader::has_work() const {
  return open_batch_ < end_batch_ && open_batch_ < free_before_ + static_cast<int64_t>(slots_.size());
}

Loader::Chunk Loader::take_chunk() {
  Slot& slot = slot_of(open_batch_);
  const int64_t samples = samples_of(open_batch_);
  if (open_sample_ == 0) {
    slot.batch = open_batch_;
    slot.unread = samples;
    slot.error = nullptr;
  }
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

// Batch, epoch and slots of a taken chunk stay as they are until it is finished, so they are read without the lock.
void Loader::fill(const Chunk& chunk) {
  Slot& slot = slot_of(chunk.batch);
  const int64_t epoch = epoch_of(chunk.batch), values = source_.shape().values();
  const int64_t first_position = chunk.batch % batches_per_epoch_ * batch_samples_;
  const EpochOrder order(options_.seed, epoch, source_.size());
  const SampleContext context{options_.seed, epoch, options_.augment};
  int64_t sample = chunk.first;
  std::exception_ptr error;
  try {
    for (; sample < chunk.first + chunk.count && !abandon_; ++sample) {
      const int64_t position = first_position + sample;
      const int64_t index = options_.shuffle ? order.sample_at(position) : position;
      source_.read(index, context, slot.images.data() + sample * values, slot.labels[static_cast<size_t>(sample)]);
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
  const int64_t batch = next_batch_++, samples = samples_of(batch);
  return Batch{std::span(slot.images).first(static_cast<size_t>(samples * source_.shape().values())),
               std::span(slot.labels).first(static_cast<size_t>(samples)), samples, epoch_of(batch),
               batch % batches_per_epoch_ == batches_per_epoch_ - 1};
}

}  // namespace gpusizer
