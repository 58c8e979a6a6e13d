// SPDX-License-Identifier: Apache-2.0
// Ranks under mpirun: the same sums as threads, and ranks that are killed, stopped, give up or leave; nothing stays.
#include "workloads/backend/communicator/mpi_communicator.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "workloads/backend/communicator/rank_signs.hpp"
#include "workloads/backend/communicator/tests/process_ranks.hpp"
#include "workloads/backend/communicator/tests/thread_ranks.hpp"

namespace gpusizer {
namespace {

namespace files = std::filesystem;
using testing::no_word;
using testing::Sentences;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool has_sanitizer = true;
#else
constexpr bool has_sanitizer = false;
#endif

bool is_in_path(const std::string& program) {
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    if (::access((path.substr(begin, end - begin) + "/" + program).c_str(), X_OK) == 0) return true;
    begin = end + 1;
  }
  return false;
}

std::string content_of(const files::path& file) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.empty() ? no_word : text;
}

std::set<std::string> names_in(const files::path& folder) {
  std::set<std::string> names;
  if (files::exists(folder))
    for (const auto& entry : files::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// The processes whose command line names the folder.
std::set<std::string> processes_of(const std::string& folder) {
  std::set<std::string> ids;
  for (const auto& entry : files::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.find(folder) != std::string::npos) ids.insert(entry.path().filename());
  }
  return ids;
}

class Mpi : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef GPUSIZER_MPI_RANK
    GTEST_SKIP() << "built without MPI";
#endif
    if (!is_in_path("mpirun")) GTEST_SKIP() << "there is no mpirun: install openmpi-bin";
    if (has_sanitizer) GTEST_SKIP() << "the packaged MPI is not made for sanitizers";
    std::string pattern = (files::temp_directory_path() / "gpusizer-mpi-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    if (!folder_.empty()) files::remove_all(folder_);
  }

  // How each rank ended; afterwards neither a process, nor shared memory, nor a file of the launcher's may be left.
  Sentences play(const std::string& scene, int size, const std::string& more = "") {
    // Shared memory has a folder of its own too: other tests use /dev/shm at the same time.
    const files::path said = folder_ / "said", session = folder_ / "session", shared = folder_ / "shared";
    files::create_directories(shared);
    files::create_directories(said);
    files::create_directories(session);
    const std::string command = "TMPDIR=" + session.string() + " GPUSIZER_MPI_MODULE=" + module_ +
                                " timeout -k 5 50 mpirun --allow-run-as-root --oversubscribe --bind-to none "
                                "--mca btl_vader_backing_directory " +
                                shared.string() + " " + more +
                                " -np " + std::to_string(size) + " " + rank_program_ + " " + scene + " " +
                                said.string() + " >" + (folder_ / "log").string() + " 2>&1 </dev/null";
    exit_code_ = std::system(command.c_str());
    exit_code_ = WIFEXITED(exit_code_) ? WEXITSTATUS(exit_code_) : -1;
    Sentences words;
    for (int r = 0; r < size; ++r) words.push_back(content_of(said / std::to_string(r)));
    expect_nothing_left(session);
    return words;
  }

  void expect_nothing_left(const files::path& session) {
    for (const double end = steady_seconds() + 10; steady_seconds() < end && !processes_of(folder_.string()).empty();)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(processes_of(folder_.string()), std::set<std::string>{});
    EXPECT_EQ(names_in(session), std::set<std::string>{});
    EXPECT_EQ(names_in(folder_ / "shared"), std::set<std::string>{});
  }

#ifdef GPUSIZER_MPI_RANK
  const std::string rank_program_ = GPUSIZER_MPI_RANK, module_ = GPUSIZER_MPI_FILE;
#else
  const std::string rank_program_, module_;
#endif
  files::path folder_;
  int exit_code_ = 0;
};

TEST_F(Mpi, EveryRankLearnsEveryText) {
  EXPECT_EQ(play("texts", 4), Sentences(4, "xxxonempi"));
  EXPECT_EQ(exit_code_, 0) << content_of(folder_ / "log");
}

TEST_F(Mpi, SumsHaveTheSameBitsOverTcp) {
  const auto sums = play("sums", 2);
  EXPECT_NE(sums[0], no_word);
  EXPECT_EQ(sums[0], sums[1]);
  const std::string folder = (folder_ / "tcp").string();
  files::create_directories(folder);
  std::string command = "export MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(testing::free_port()) + "; ";
  for (const char* rank : {"0", "1"})
    command += std::string("RANK=") + rank + " WORLD_SIZE=2 " + rank_program_ + " sums " + folder + " & ";
  EXPECT_EQ(std::system((command + "wait").c_str()), 0);
  EXPECT_EQ(content_of(folder + "/0"), sums[0]);
  EXPECT_EQ(content_of(folder + "/1"), sums[0]);
}

TEST_F(Mpi, ARankThatStopsIsNamedAfterTheTimeOut) {
  const auto said = play("stop", 3);
  const std::string reason = "rank 1 did not answer for 2 s in step 5; the last step it finished is 4";
  EXPECT_EQ(said[0], reason);
  EXPECT_EQ(said[2], reason);
  EXPECT_NE(exit_code_, 0);  // at the end the launcher wakes the stopped one, and kills it
}

TEST_F(Mpi, ARankThatIsKilledIsNamedByThoseWhomTheLauncherLetsLive) {
  const auto said = play("kill", 3, "--enable-recovery");
  const std::string reason = "rank 1 did not answer for 2 s in step 5; the last step it finished is 4";
  EXPECT_EQ(said, (Sentences{reason, no_word, reason}));
}

TEST_F(Mpi, ARankThatIsKilledEndsAll) {
  play("kill", 2);
  EXPECT_NE(exit_code_, 0);
}

TEST_F(Mpi, TheFirstReasonReachesEverybody) {
  const auto said = play("give-up", 3);
  const std::string reason = "rank 1 gave up in step 1, its first (out of memory)";
  EXPECT_EQ(said, (Sentences{reason, "aborted", reason}));
}

TEST_F(Mpi, ARankThatLeavesIsNotWaitedForButWhatItSentArrives) {
  const auto said = play("leave", 2);
  EXPECT_EQ(said, (Sentences{"rank 1 has ended before its first step", "left"}));
}

TEST_F(Mpi, AMessageOfAnotherLengthIsAnError) {
  const auto said = play("length", 2);
  EXPECT_EQ(said, Sentences(2, "rank 0 sends 4 bytes where rank 1 expects 8"));
}

TEST_F(Mpi, AModuleThatIsMissingIsAHardErrorInEveryRank) {
  const auto said = play("texts", 2, "-x GPUSIZER_MPI_MODULE=/nowhere/mpi.so");
  EXPECT_EQ(said, Sentences(2,
                            "the MPI module cannot be opened: there is no such file (/nowhere/mpi.so); build gpusizer "
                            "where Open MPI's development files are installed, name the module in "
                            "GPUSIZER_MPI_MODULE, or join the ranks with RANK, WORLD_SIZE, MASTER_ADDR and "
                            "MASTER_PORT"));
}

TEST(MpiModule, WhatIsNoModuleIsRefused) {
  EXPECT_THROW(open_mpi_module("/proc/self/status"), Error);
  EXPECT_THROW(open_mpi_module("/nowhere/mpi.so"), Error);
  EXPECT_THROW(open_mpi_module("libz.so.1"), Error);
}

}  // namespace
}  // namespace gpusizer
