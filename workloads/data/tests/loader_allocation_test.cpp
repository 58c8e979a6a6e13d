// SPDX-License-Identifier: Apache-2.0
// In steady state neither the loader nor a source in memory allocates: counted by replacing operator new.
#include <gtest/gtest.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

TEST(LoaderAllocation, IsNoneInSteadyState) { GTEST_SKIP() << "a sanitizer has its own operator new"; }

#else

#include <atomic>
#include <cstdlib>
#include <new>

#include "workloads/data/data_sources.hpp"
#include "workloads/data/loader.hpp"
#include "workloads/data/tests/made_files.hpp"

namespace {
std::atomic<long> allocations = 0;
}

// Not inlined: the compiler would see free() for memory of new, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace gpusizer {
namespace {

TEST(LoaderAllocation, IsNoneInSteadyState) {
  const made::TempFolder folder;
  folder.write("train-images-idx3-ubyte", made::idx({50, 8, 8}, made::counting_pixels(50, 64)));
  folder.write("train-labels-idx1-ubyte", made::idx({50}, made::Bytes(50, 1)));
  const auto digits = open_data_source(folder.text(), {.wanted = {3, 12, 12}});
  const auto synthetic = open_data_source("synthetic", {.wanted = {3, 12, 12}, .synthetic_samples = 50});
  for (const SampleSource* source : {digits.get(), synthetic.get()}) {
    Loader loader(*source, {.batch = 8, .threads = 2, .shuffle = true, .augment = true, .endless = true});
    loader.start_epoch(0);
    for (int i = 0; i < 20; ++i) loader.next();
    const long before = allocations;
    EXPECT_GT(before, 0);
    for (int i = 0; i < 200; ++i) loader.next();
    EXPECT_EQ(allocations, before) << source->name();
  }
}

}  // namespace
}  // namespace gpusizer

#endif
