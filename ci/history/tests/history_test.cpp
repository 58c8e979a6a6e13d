// SPDX-License-Identifier: Apache-2.0
// A history on disk: adding, losing, rebuilding, many processes at once, and what a check says.
#include "ci/history/history.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "ci/compare/compare.hpp"
#include "ci/compare/tests/compare_reports.hpp"
#include "ci/history/check.hpp"
#include "ci/history/history_text.hpp"
#include "reports/record/fingerprint.hpp"

namespace gpusizer::ci {
namespace {

namespace fs = std::filesystem;

class HistoryOnDisk : public testing::Test {
 protected:
  HistoryOnDisk() { fs::remove_all(folder_); }
  ~HistoryOnDisk() override { fs::remove_all(folder_); }

  // A run of `number`, one hour after the one before.
  static record::Report run(double step_ms, int number, const std::string& driver = "570") {
    record::Report report = report_with(step_ms / 1000, number);
    report.created_utc = utc_of(1'767'225'600'000 + 3'600'000LL * number);
    report.tool.git_commit = "c0ffee" + std::to_string(1000 + number);
    report.command_line = "gpusizer run --model resnet8 --out 'r 1.json' --seed 1";
    auto& fingerprint = report.cases[0].fingerprint;
    fingerprint.environment["library.driver"] = driver;
    fingerprint.identity_hash = record::hash_of(fingerprint.identity);
    fingerprint.environment_hash = record::hash_of(fingerprint.environment);
    return report;
  }
  static double noisy(int number) { return 100 + std::sin(number * number); }

  void fill(int runs, double after = 1, int from = 1000) {
    History history(folder_, true);
    for (int i = 0; i < runs; ++i) history.add(run(noisy(i) * (i < from ? 1 : after), i), {});
  }
  Judgement checked(const record::Report& report, const std::string& metric = "step_seconds") {
    const History history(folder_, false);
    for (const Judgement& j : check(history, {report}, built_in_rules(), {}).comparison.judgements)
      if (j.metric == metric) return j;
    ADD_FAILURE();
    return {};
  }

  fs::path folder_ = fs::temp_directory_path() / ("history-" + std::to_string(::getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(HistoryOnDisk, TimesAreReadAndWritten) {
  EXPECT_EQ(milliseconds_of("1970-01-02T00:00:01Z"), 86'401'000);
  EXPECT_EQ(milliseconds_of("2026-01-01T00:00:00.25Z"), 1'767'225'600'250);
  EXPECT_EQ(utc_of(1'767'225'600'250), "2026-01-01T00:00:00Z");
}

TEST_F(HistoryOnDisk, AddingTwiceIsAddingOnce) {
  History history(folder_, true);
  EXPECT_TRUE(history.add(run(100, 1), {}).is_new);
  EXPECT_FALSE(history.add(run(100, 1), {}).is_new);
  EXPECT_EQ(history.index().newest_runs("main", 10).size(), 1u);
  EXPECT_EQ(history.index().newest_runs("main", 10)[0].commit, "c0ffee1001");
  history.add(run(100, 2), {"abcdef", "pr-1"});
  EXPECT_EQ(history.index().newest_runs("pr-1", 10)[0].commit, "abcdef");
}

TEST_F(HistoryOnDisk, TheIndexIsOnlyAnIndex) {
  fill(12);
  const std::string before = History(folder_, false).index().dump();
  EXPECT_NE(before.find("resnet8"), 0u);
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(folder_ / (std::string("index.sqlite") + suffix));
  EXPECT_EQ(History(folder_, false).index().dump(), before);
  std::ofstream(folder_ / "index.sqlite") << "this is no database, but a text that is longer than a header of one hundred bytes would be, by a bit.";
  fs::remove(folder_ / "index.sqlite-wal");
  EXPECT_EQ(History(folder_, false).index().dump(), before);
  History history(folder_, false);
  EXPECT_EQ(history.rebuild(), 12u);
  EXPECT_EQ(history.index().dump(), before);
}

TEST_F(HistoryOnDisk, FilesThatOthersPutThereAreTakenIn) {
  fill(3);
  const fs::path other = folder_.string() + "-other";
  fs::remove_all(other);
  fs::create_directories(other);
  fs::copy(folder_ / "reports", other / "reports", fs::copy_options::recursive);
  EXPECT_EQ(History(other, false).index().dump(), History(folder_, false).index().dump());
  fs::remove_all(other);
}

TEST_F(HistoryOnDisk, TenProcessesLoseNothing) {
  constexpr int kProcesses = 10, kEach = 4;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 0;
      try {
        for (int i = 0; i < kEach; ++i) History(folder_, true).add(run(100, p * kEach + i), {});
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        code = 1;
      }
      ::_exit(code);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  History history(folder_, false);
  EXPECT_EQ(history.index().newest_runs("main", 1000).size(), static_cast<std::size_t>(kProcesses * kEach));
  const std::string before = history.index().dump();
  history.rebuild();
  EXPECT_EQ(history.index().dump(), before);
}

TEST_F(HistoryOnDisk, AKillLosesNothingThatWasAcknowledged) {
  int acknowledged = 0;
  for (int round = 0; round < 6; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0; i < 1000; ++i) {
        History(folder_, true).add(run(100, round * 1000 + i), {});
        if (::write(pipe[1], "+", 1) != 1) ::_exit(1);
      }
      ::_exit(0);
    }
    ::close(pipe[1]);
    char mark = 0;
    for (int i = 0; i < 3 + round; ++i) acknowledged += ::read(pipe[0], &mark, 1) == 1;
    ::usleep(static_cast<useconds_t>(700 * round));  // somewhere within the next one
    ::kill(child, SIGKILL);
    while (::read(pipe[0], &mark, 1) == 1) ++acknowledged;
    ::close(pipe[0]);
    ::waitpid(child, nullptr, 0);
  }
  History history(folder_, false);
  EXPECT_GE(history.index().newest_runs("main", 100000).size(), static_cast<std::size_t>(acknowledged));
  const std::string before = history.index().dump();
  history.rebuild();
  EXPECT_EQ(history.index().dump(), before);
}

TEST_F(HistoryOnDisk, PruneKeepsTheNewest) {
  fill(10);
  History history(folder_, false);
  EXPECT_EQ(history.prune("main", 4, true).size(), 6u);
  EXPECT_EQ(history.index().newest_runs("main", 100).size(), 10u);
  history.prune("main", 4, false);
  EXPECT_EQ(history.index().newest_runs("main", 100).size(), 4u);
  const std::string before = history.index().dump();
  history.rebuild();
  EXPECT_EQ(history.index().dump(), before);
}

TEST_F(HistoryOnDisk, CheckPassesSuspectsAndCalls) {
  fill(25);
  EXPECT_EQ(word_of(checked(run(100.2, 50)).verdict), "unchanged");
  EXPECT_EQ(checked(run(102.2, 50)).reason, "needs_more_runs");
  EXPECT_EQ(word_of(checked(run(120, 50)).verdict), "regressed");
  EXPECT_EQ(word_of(checked(run(120, 50), "throughput").verdict), "regressed");
  EXPECT_EQ(word_of(checked(run(80, 50)).verdict), "improved");
  const History history(folder_, false);
  std::vector<record::Report> five;
  for (int i = 0; i < 5; ++i) five.push_back(run(noisy(60 + i) * 1.03, 60 + i));
  const CheckResult result = check(history, five, built_in_rules(), {});
  EXPECT_EQ(exit_code_of(result.comparison, built_in_rules(), false), 1);
  EXPECT_EQ(word_of(result.comparison.judgements[0].verdict), "regressed");
}

TEST_F(HistoryOnDisk, ARunInTheHistoryIsNotItsOwnBase) {
  fill(25);
  History history(folder_, false);
  const auto added = history.add(run(102.2, 50), {});
  const CheckResult result = check(history, {history.report(added.file)}, built_in_rules(), {});
  EXPECT_EQ(result.comparison.judgements[0].base_runs, 25u);
  const CheckResult outside = check(history, {run(102.2, 50)}, built_in_rules(), {});
  EXPECT_EQ(outside.comparison.judgements[0].base_runs, 25u);
}

TEST_F(HistoryOnDisk, RerunIsTheRecordedCommand) {
  fill(25);
  const History history(folder_, false);
  const CheckResult result = check(history, {run(102.2, 50)}, built_in_rules(), {});
  ASSERT_EQ(result.cases_to_rerun.size(), 1u);
  const std::string text = rerun_commands(run(102.2, 50), "h", {"pr.json"});
  EXPECT_EQ(text.substr(0, text.find('\n')), "gpusizer run --model resnet8 --seed 1 --out rerun-1.json");
  EXPECT_NE(text.find("gpusizer history check pr.json rerun-1.json rerun-2.json rerun-3.json rerun-4.json --dir h\n"), std::string::npos) << text;
}

TEST_F(HistoryOnDisk, AnotherDriverBeginsAnotherSeries) {
  fill(25);
  const Judgement j = checked(run(130, 50, "580"));
  EXPECT_EQ(word_of(j.verdict), "new");
  EXPECT_EQ(j.reason, "environment_changed");
  EXPECT_NE(j.sentence.find("library.driver: 570 -> 580"), std::string::npos) << j.sentence;
}

TEST_F(HistoryOnDisk, AnotherUnitIsNotCompared) {
  fill(12);
  record::Report report = run(100, 50);
  report.cases[0].metrics[1].unit = "ms";
  EXPECT_EQ(checked(report).reason, "meaning_changed");
}

TEST_F(HistoryOnDisk, ARenamedMetricKeepsItsSeries) {
  fill(25);
  record::Report report = run(120, 50);
  report.cases[0].metrics[1].id = "seconds_per_step";
  report.cases[0].metrics[1].aliases = {"step_seconds"};
  History history(folder_, false);
  history.add(report, {});
  const CheckResult result = check(history, {report}, built_in_rules(), {});
  EXPECT_EQ(result.comparison.judgements[0].metric, "seconds_per_step");
  EXPECT_EQ(word_of(result.comparison.judgements[0].verdict), "regressed");
  EXPECT_EQ(count_of(result.comparison, Verdict::missing), 0u);
}

TEST_F(HistoryOnDisk, WhatTheRunBeforeHadIsMissing) {
  fill(12);
  record::Report report = run(100, 50);
  report.cases[0].metrics.pop_back();
  EXPECT_EQ(word_of(checked(report).verdict), "missing");
}

TEST_F(HistoryOnDisk, AShiftIsRaisedUntilItIsAccepted) {
  fill(31, 1.03, 24);
  const auto newest = [&] {
    const History history(folder_, false);
    const CheckResult result = check(history, {history.report(history.index().newest_runs("main", 1)[0].file)}, built_in_rules(), {});
    return std::pair(result.comparison.judgements[0], result.trends[0]);
  };
  EXPECT_EQ(word_of(newest().first.verdict), "regressed");
  ASSERT_EQ(newest().second.shifts.size(), 1u);
  EXPECT_EQ(newest().second.shifts[0].commit, "c0ffee1024");
  History history(folder_, false);
  history.accept({"*", "*", milliseconds_of(run(1, 24).created_utc), "c0ffee1024", "Ada", "a larger batch", "2026-02-01T00:00:00Z", false});
  EXPECT_NE(word_of(newest().first.verdict), "regressed") << newest().first.sentence;
  EXPECT_TRUE(newest().second.shifts[0].accepted);
  EXPECT_EQ(newest().second.base_from, 24u);
  EXPECT_NE(trends_text({newest().second}, {}).find("accepted by Ada: a larger batch"), std::string::npos);
}

TEST_F(HistoryOnDisk, AFalseAlarmIsNotRaisedAgain) {
  fill(31, 1.03, 24);
  History history(folder_, false);
  history.accept({"a", "step_*", milliseconds_of(run(1, 24).created_utc), "c0ffee1024", "Ada", "a hot day", "2026-02-01T00:00:00Z", true});
  const CheckResult result = check(history, {history.report(history.index().newest_runs("main", 1)[0].file)}, built_in_rules(), {"main", "a", "step_seconds"});
  EXPECT_NE(result.comparison.judgements[0].reason, "level_shift");
}

TEST_F(HistoryOnDisk, AnUnknownFolderIsAnInputError) {
  EXPECT_THROW(History(folder_ / "nowhere", false), Error);
}

}  // namespace
}  // namespace gpusizer::ci
