// SPDX-License-Identifier: Apache-2.0
// What the kernel's texts say, on short examples of them.
#include <gtest/gtest.h>

#include <vector>

#include "bench/machine/cpu.hpp"
#include "bench/machine/describe.hpp"
#include "bench/machine/memory.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

TEST(CpuInfo, TwoSocketsWithTwoCoresAndHyperThreads) {
  std::string text;
  for (const char* id : {"0 0", "0 1", "1 0", "1 1", "0 0", "0 1", "1 0", "1 1"})
    text += std::string("model name\t: Some CPU @ 2.80GHz\nphysical id\t: ") + id[0] + "\ncore id\t\t: " + id[2] +
            "\nflags\t\t: fpu avx2 avx512f ssse3 amx_bf16\n\n";
  const auto cpu = parse_cpu_info(text);
  EXPECT_EQ(cpu.model, "Some CPU @ 2.80GHz");
  EXPECT_EQ(cpu.physical_cores, 4);
  EXPECT_EQ(cpu.flags, (std::vector<std::string>{"amx_bf16", "avx2", "avx512f"}));
}

TEST(CpuInfo, AnArmTextWithoutCoresIsNotInvented) {
  const auto cpu = parse_cpu_info("processor : 0\nFeatures : fp asimd sve\n:\n");
  EXPECT_EQ(cpu.model, "");
  EXPECT_FALSE(cpu.physical_cores);
  EXPECT_EQ(cpu.flags.size(), 2u);
}

TEST(CpuTime, OthersShare) {
  const auto begin = parse_cpu_time("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1", 100);
  const auto end = parse_cpu_time("cpu  500 0 50 1200 50 0 0 0 0 0\n", 100);
  ASSERT_TRUE(begin && end);
  EXPECT_NEAR(end->busy - begin->busy, 4, 1e-12);
  EXPECT_NEAR(*others_share(begin, end, 3.0), 1.0 / 8, 1e-12);
  EXPECT_EQ(*others_share(begin, end, 9.0), 0.0);  // clocks that disagree a little give no negative share
  EXPECT_FALSE(others_share(begin, begin, 0));
  EXPECT_FALSE(parse_cpu_time("cpu 1 2 3", 100));
  EXPECT_FALSE(parse_cpu_time("", 100));
}

TEST(Cpu, TimeOfAProcess) {
  const char* text = "77 (a) b) (c) S 1 77 77 0 -1 4194304 1 2 3 4 250 50 0 0 20 0 2 0 100\n";
  EXPECT_EQ(parse_process_cpu_seconds(text, 100), 3.0);
  EXPECT_FALSE(parse_process_cpu_seconds("77 (a) S 1 77", 100));
  EXPECT_FALSE(parse_process_cpu_seconds("", 100));
  EXPECT_FALSE(process_cpu_seconds(0)) << "nobody has that number";
}

TEST(Memory, Meminfo) {
  const char* text = "MemTotal:       24683620 kB\nMemAvailable:   1000 kB\n";
  EXPECT_EQ(parse_meminfo(text, "MemAvailable"), 1'024'000);
  EXPECT_FALSE(parse_meminfo(text, "Mem"));
  EXPECT_FALSE(parse_meminfo("MemTotal: lots\n", "MemTotal"));
}

TEST(Memory, ThisProcessUsesSome) {
  ASSERT_TRUE(peak_resident_bytes());
  EXPECT_GT(*peak_resident_bytes(), 1'000'000);
}

TEST(Memory, ARestartedPeakForgetsWhatWasFreedBefore) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps freed memory for a while";
#endif
  constexpr std::size_t bytes = 64 << 20;
  std::vector<char>(bytes, 'x');
  const auto before = peak_resident_bytes();
  ASSERT_TRUE(before);
  if (!restart_peak_resident()) {
    EXPECT_GE(*peak_resident_bytes(), *before);  // then it is known as the peak since the start
    return;
  }
  const auto restarted = peak_resident_bytes();
  EXPECT_LT(*restarted, *before);
  const std::vector<char> again(2 * bytes, 'x');
  EXPECT_EQ(again.back(), 'x');
  EXPECT_GT(*peak_resident_bytes(), *restarted + static_cast<std::int64_t>(bytes));
}

TEST(OsRelease, PrettyName) {
  EXPECT_EQ(parse_os_release("NAME=\"x\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"), "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(parse_os_release("PRETTY_NAME=Plain"), "Plain");
  EXPECT_EQ(parse_os_release("PRETTY_NAME=\""), "\"");
  EXPECT_EQ(parse_os_release(""), "");
}

TEST(Instance, OnlyWhatTheFirmwareReallyNames) {
  EXPECT_EQ(instance_of_firmware("Amazon EC2", "c7i.xlarge")->type, "c7i.xlarge");
  EXPECT_FALSE(instance_of_firmware("Google", "Google Compute Engine"));
  EXPECT_FALSE(instance_of_firmware("Amazon EC2", ""));
}

TEST(Machine, AStatedInstanceMustBeKnown) {
  EXPECT_EQ(describe_machine("c7i.xlarge").instance->detected_by, "--as");
  EXPECT_THROW(describe_machine("c7i.no-such-size"), Error);
}

TEST(Machine, DescribesItselfWithoutGaps) {
  const auto machine = describe_machine("");
  EXPECT_NE(machine.kernel, "");
  EXPECT_GE(*machine.cpu_threads, 1);
  EXPECT_FALSE(machine.devices.empty());
}

TEST(Machine, TimesAreRfc3339) {
  const std::string now = utc_now();
  ASSERT_EQ(now.size(), 20u);
  EXPECT_EQ(now[10], 'T');
  EXPECT_EQ(now.back(), 'Z');
}

}  // namespace
}  // namespace gpusizer
