// SPDX-License-Identifier: Apache-2.0
// The loader: order, tails, epochs, waiting, errors, and early ends.
#include "workloads/data/loader.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>

#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::caught;
using made::expect_says;
using std::chrono_literals::operator""ms;

// 1x1x2 images: the index, and a number that depends on the whole context. `before` is called for each sample.
class NumberSource final : public ImageSource {
 public:
  explicit NumberSource(int64_t count, std::function<void(int64_t)> before = {})
      : ImageSource({.name = "numbers", .size = count, .shape = {1, 1, 2}, .classes = 1 << 20}),
        before_(std::move(before)) {}

 private:
  void read_image(int64_t index, const SampleContext& context, float* image, int32_t& label) const override {
    if (before_) before_(index);
    image[0] = static_cast<float>(index);
    image[1] =
        static_cast<float>(context.seed * 100 + static_cast<uint64_t>(context.epoch)) + (context.augment ? 0.5F : 0.F);
    label = static_cast<int32_t>(index);
  }

  std::function<void(int64_t)> before_;
};

// A gate that reading threads wait at.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

struct Seen {
  std::vector<int64_t> sizes, epochs;
  std::vector<int32_t> labels;
  std::vector<float> images;
  std::vector<bool> ends;
};

// All batches until the epoch ends, or `most` of them.
Seen drain(Loader& loader, int64_t most = 1 << 20) {
  Seen seen;
  for (int64_t i = 0; i < most; ++i) {
    const std::optional<Batch> batch = loader.next();
    if (!batch) break;
    const auto images = batch->values<float>(0);
    const auto labels = batch->values<int32_t>(1);
    EXPECT_EQ(images.size(), static_cast<size_t>(batch->samples * 2));
    EXPECT_EQ(labels.size(), static_cast<size_t>(batch->samples));
    seen.sizes.push_back(batch->samples);
    seen.epochs.push_back(batch->epoch);
    seen.ends.push_back(batch->ends_epoch);
    seen.labels.insert(seen.labels.end(), labels.begin(), labels.end());
    seen.images.insert(seen.images.end(), images.begin(), images.end());
  }
  return seen;
}

std::vector<int32_t> counting(int32_t count) {
  std::vector<int32_t> numbers;
  for (int32_t i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

TEST(Loader, GivesTheSamplesInOrderWithAShorterTail) {
  const NumberSource source(10);
  Loader loader(source, {.batch = 4, .threads = 3, .seed = 2});
  EXPECT_EQ(loader.batches_per_epoch(), 3);
  EXPECT_EQ(loader.samples_per_epoch(), 10);
  loader.start_epoch(7);
  const Seen seen = drain(loader);
  EXPECT_EQ(seen.sizes, (std::vector<int64_t>{4, 4, 2}));
  EXPECT_EQ(seen.ends, (std::vector<bool>{false, false, true}));
  EXPECT_EQ(seen.labels, counting(10));
  EXPECT_EQ(seen.epochs, (std::vector<int64_t>{7, 7, 7}));
  EXPECT_EQ(seen.images[0], 0);
  EXPECT_EQ(seen.images[1], 207);  // seed 2, epoch 7, no augmentation
  EXPECT_EQ(seen.images[18], 9);
  EXPECT_FALSE(loader.next());
  EXPECT_FALSE(loader.next());
}

TEST(Loader, LeavesTheTailOutWhenAskedTo) {
  const NumberSource source(10);
  Loader loader(source, {.batch = 4, .threads = 2, .drop_last = true});
  EXPECT_EQ(loader.samples_per_epoch(), 8);
  loader.start_epoch(0);
  EXPECT_EQ(drain(loader).sizes, (std::vector<int64_t>{4, 4}));
  expect_says(caught([&] { Loader none(source, {.batch = 11, .drop_last = true}); }), Fault::usage,
              {"10 samples", "batch of 11"});
}

TEST(Loader, WorksWithFewerSamplesThanABatch) {
  const NumberSource source(3);
  Loader loader(source, {.batch = 128, .threads = 2, .prefetch_batches = 3, .endless = true});
  loader.start_epoch(0);
  const Seen seen = drain(loader, 4);
  EXPECT_EQ(seen.sizes, (std::vector<int64_t>{3, 3, 3, 3}));
  EXPECT_EQ(seen.epochs, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(seen.ends, std::vector<bool>(4, true));
}

TEST(Loader, CoversEverySampleOnceInEveryShuffledEpoch) {
  const NumberSource source(103);
  Loader loader(source, {.batch = 10, .threads = 3, .shuffle = true, .seed = 4, .augment = true});
  std::vector<int32_t> last;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    loader.start_epoch(epoch);
    const Seen seen = drain(loader);
    EXPECT_EQ(seen.sizes.back(), 3);
    EXPECT_EQ(seen.images[1], 400 + static_cast<float>(epoch) + 0.5F);
    EXPECT_NE(seen.labels, last);
    last = seen.labels;
    std::vector<int32_t> sorted = seen.labels;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, counting(103));
  }
}

// Order and pixels are the same for any number of threads and any depth of prefetching, in a row or epoch by epoch.
TEST(Loader, DoesNotDependOnThreads) {
  const NumberSource source(57);
  const auto run = [&](int64_t threads, int64_t prefetch) {
    Loader loader(
        source,
        {.batch = 8, .threads = threads, .prefetch_batches = prefetch, .shuffle = true, .seed = 1, .endless = true});
    loader.start_epoch(2);
    return drain(loader, 24);  // three epochs of eight batches
  };
  const Seen one = run(1, 1);
  EXPECT_EQ(one.sizes[7], 1);
  EXPECT_EQ(one.epochs[8], 3);
  for (const auto& [threads, prefetch] : {std::pair{2, 1}, {3, 4}, {8, 20}}) {
    const Seen many = run(threads, prefetch);
    EXPECT_EQ(many.labels, one.labels);
    EXPECT_EQ(many.images, one.images);
    EXPECT_EQ(many.sizes, one.sizes);
  }
  Loader loader(source, {.batch = 8, .threads = 2, .shuffle = true, .seed = 1});
  Seen by_epoch;
  for (int64_t epoch = 2; epoch < 5; ++epoch) {
    loader.start_epoch(epoch);
    const Seen seen = drain(loader);
    by_epoch.labels.insert(by_epoch.labels.end(), seen.labels.begin(), seen.labels.end());
  }
  EXPECT_EQ(by_epoch.labels, one.labels);
}

TEST(Loader, StartsAnEpochAgainInTheMiddle) {
  const NumberSource source(40);
  Loader loader(source, {.batch = 4, .threads = 3, .prefetch_batches = 4, .shuffle = true});
  loader.start_epoch(0);
  const Seen whole = drain(loader);
  for (int64_t taken = 0; taken < 10; ++taken) {
    loader.start_epoch(1);
    drain(loader, taken);
    loader.start_epoch(0);
    EXPECT_EQ(drain(loader).labels, whole.labels);
  }
}

// A batch stays as it is until the following next(), however far the threads are ahead.
TEST(Loader, LeavesTheBatchInUseAlone) {
  const NumberSource source(64);
  Loader loader(source, {.batch = 4, .threads = 4, .prefetch_batches = 2, .endless = true});
  loader.start_epoch(0);
  for (int i = 0; i < 50; ++i) {
    const Batch batch = *loader.next();
    const auto labels = batch.values<int32_t>(1);
    const std::vector<int32_t> before(labels.begin(), labels.end());
    while (loader.ready_batches() < 2) std::this_thread::yield();
    EXPECT_TRUE(std::equal(before.begin(), before.end(), labels.begin()));
  }
}

// The clock is asked only around a wait: here it opens the gate that the data is kept behind, and 5 seconds pass.
TEST(Loader, MeasuresTheWaitForData) {
  Gate gate;
  double now = 95;
  const NumberSource source(8, [&](int64_t index) {
    if (index == 0) gate.pass();
  });
  const auto clock = [&] {
    gate.open();
    return now += 5;
  };
  Loader loader(source, {.batch = 4, .threads = 1, .now_seconds = clock});
  loader.start_epoch(0);
  ASSERT_TRUE(loader.next());
  EXPECT_DOUBLE_EQ(loader.last_wait_seconds(), 5);
  while (loader.ready_batches() < 1) std::this_thread::yield();
  ASSERT_TRUE(loader.next());
  EXPECT_EQ(loader.last_wait_seconds(), 0);
  EXPECT_FALSE(loader.next());
  EXPECT_DOUBLE_EQ(loader.waited_seconds(), 5);
}

// All batches before the damaged sample come; then its own error, the first sample's if there are several; then
// nothing.
TEST(Loader, HandsOnAnErrorOnceAndInOrder) {
  const NumberSource source(40, [](int64_t index) {
    if (index == 18 || index == 17 || index == 30) {
      throw Error(Fault::input, "the sample is damaged", "file_" + std::to_string(index), "copy it again");
    }
  });
  for (const int64_t threads : {1, 2, 8}) {
    Loader loader(source, {.batch = 4, .threads = threads, .prefetch_batches = 6});
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      loader.start_epoch(epoch);
      EXPECT_EQ(drain(loader, 4).labels, counting(16));
      const Error error = caught([&] { loader.next(); });
      expect_says(error, Fault::input, {"the sample is damaged (file_17); copy it again"});
      EXPECT_EQ(error.where(), "file_17");
      EXPECT_FALSE(loader.next());
      EXPECT_FALSE(loader.next());
    }
  }
}

TEST(Loader, HandsOnForeignErrorsAsTheyAre) {
  const NumberSource source(4, [](int64_t) { throw std::bad_alloc(); });
  Loader loader(source, {.batch = 2, .threads = 2});
  loader.start_epoch(0);
  EXPECT_THROW(loader.next(), std::bad_alloc);
}

TEST(Loader, CanBeLeftAtAnyMoment) {
  const NumberSource source(1000, [](int64_t) { std::this_thread::sleep_for(1ms); });
  { Loader never_started(source, {.batch = 8, .threads = 4}); }
  {
    Loader just_started(source, {.batch = 1000, .threads = 2});
    just_started.start_epoch(0);
  }
  {
    Loader in_the_middle(source, {.batch = 8, .threads = 4, .endless = true});
    in_the_middle.start_epoch(0);
    in_the_middle.next();
  }
  const NumberSource failing(10, [](int64_t) { throw Error(Fault::input, "damaged"); });
  {
    Loader error_not_fetched(failing, {.batch = 2, .threads = 2});
    error_not_fetched.start_epoch(0);
  }
}

TEST(Loader, RefusesOptionsThatCannotBe) {
  const NumberSource source(10);
  expect_says(caught([&] { Loader loader(source, {.batch = 0}); }), Fault::usage, {"batch is 0"});
  expect_says(caught([&] { Loader loader(source, {.threads = -1}); }), Fault::usage, {"threads is -1"});
  expect_says(caught([&] { Loader loader(source, {.prefetch_batches = 0}); }), Fault::usage,
              {"prefetched batches is 0"});
  Loader loader(source, {.batch = 2});
  expect_says(caught([&] { loader.next(); }), Fault::failed, {"before an epoch was started"});
}

TEST(Loader, RefusesBuffersThatDoNotFitInMemory) {
  const NumberSource source(INT64_MAX / 4);
  expect_says(caught([&] { Loader loader(source, {.batch = int64_t{1} << 40}); }), Fault::failed,
              {"out of memory", "smaller batch"});
}

}  // namespace
}  // namespace gpusizer
