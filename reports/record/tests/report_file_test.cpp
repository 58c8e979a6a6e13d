// SPDX-License-Identifier: Apache-2.0
// Reports on disk: all or nothing, whatever goes wrong, and long series beside them.
#include "reports/record/report_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <numeric>

#include "gpusizer/error.hpp"
#include "reports/record/atomic_file.hpp"
#include "reports/record/tests/example_report.hpp"

namespace gpusizer::record {
namespace {

namespace fs = std::filesystem;

class ReportFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gpusizer-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ / "r.json";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

  // The message of the error, or "" if there was none.
  template <class Action>
  static std::string message_of(Fault fault, Action action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), fault);
      return error.what();
    }
    return "";
  }

  fs::path folder_, path_;
};

Report long_report(std::size_t steps) {
  Report report = example_report();
  Measurement& m = report.cases[0].measurement;
  m.step_seconds.resize(steps);
  for (std::size_t i = 0; i < steps; ++i) m.step_seconds[i] = 0.001 * static_cast<double>(i % 7 + 1) + 1e-9;
  m.warmup_steps = 0;
  m.measured_steps = static_cast<std::int64_t>(steps);
  m.samples = 100 * m.measured_steps;
  m.measured_seconds = std::accumulate(m.step_seconds.begin(), m.step_seconds.end(), 0.0);
  report.cases[0].throughput.value = static_cast<double>(m.samples) / *m.measured_seconds;
  m.tokens->tokens_per_second = static_cast<double>(m.tokens->real_tokens) / *m.measured_seconds;
  report.cases[0].throughput.low = report.cases[0].throughput.high = report.cases[0].throughput.value;
  return report;
}

TEST_F(ReportFile, WritesAndReads) {
  write_report(path_, example_report());
  EXPECT_EQ(read_report(path_), example_report());
  EXPECT_EQ(names(), std::vector<std::string>{"r.json"});
}

TEST_F(ReportFile, ReplacesTheOldOne) {
  write_report(path_, example_report());
  Report second = example_report();
  second.status = ReportStatus::complete;
  write_report(path_, second);
  EXPECT_EQ(read_report(path_), second);
  EXPECT_EQ(names(), std::vector<std::string>{"r.json"});
}

TEST_F(ReportFile, WritesThroughALink) {
  write_report(folder_ / "real.json", example_report());
  fs::create_symlink("real.json", path_);
  Report second = example_report();
  second.cases.pop_back();
  write_report(path_, second);
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(read_report(folder_ / "real.json"), second);
}

TEST_F(ReportFile, AFileSizeLimitLosesNothing) {
  write_report(path_, example_report());
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Report second = example_report();
  second.cases.pop_back();
  const std::string message = message_of(Fault::environment, [&] { write_report(path_, second); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  EXPECT_NE(message.find("r.json"), std::string::npos);
  EXPECT_EQ(read_report(path_), example_report());
  EXPECT_EQ(names(), std::vector<std::string>{"r.json"});
}

TEST_F(ReportFile, ADeviceIsNeverReplacedByAFile) {
  fs::create_symlink("/dev/null", path_);
  const std::string message = message_of(Fault::environment, [&] { write_report(path_, example_report()); });
  EXPECT_NE(message.find("regular file"), std::string::npos) << message;
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(ReportFile, UnwritablePathsAreOneSentence) {
  const auto message = [&](const fs::path& path) {
    return message_of(Fault::environment, [&] { write_report(path, example_report()); });
  };
  EXPECT_NE(message(folder_ / "missing" / "r.json").find("No such file or directory"), std::string::npos);
  EXPECT_NE(message(folder_).find("regular file"), std::string::npos);
  EXPECT_NE(message("").find("regular file"), std::string::npos);
  EXPECT_NE(message(folder_ / std::string(300, 'x')).find("File name too long"), std::string::npos);
  write_report(path_, example_report());
  EXPECT_NE(message(path_ / "r.json").find("Not a directory"), std::string::npos);
  EXPECT_EQ(names(), std::vector<std::string>{"r.json"});
}

TEST_F(ReportFile, AFolderWithoutPermissionIsOneSentence) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  const std::string message = message_of(Fault::environment, [&] { write_report(path_, example_report()); });
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_NE(message.find("Permission denied"), std::string::npos) << message;
}

TEST_F(ReportFile, AReadOnlyFileIsNotReplaced) {
  write_report(path_, example_report());
  fs::permissions(path_, fs::perms::owner_read);
  const std::string message = message_of(Fault::environment, [&] { write_file_atomically(path_, "x"); });
  EXPECT_NE(message.find("Permission denied"), std::string::npos) << message;
  EXPECT_EQ(read_report(path_), example_report());
  EXPECT_EQ(names(), std::vector<std::string>{"r.json"});
}

TEST_F(ReportFile, PermissionsAreKept) {
  write_report(path_, example_report());
  const fs::perms mode = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
  fs::permissions(path_, mode);
  write_file_atomically(path_, "x");
  EXPECT_EQ(fs::status(path_).permissions(), mode);
}

TEST_F(ReportFile, ALinkThatLeadsNowhereIsRefused) {
  fs::create_symlink(folder_ / "gone" / "r.json", path_);
  const std::string message = message_of(Fault::environment, [&] { write_report(path_, example_report()); });
  EXPECT_NE(message.find("leads nowhere"), std::string::npos) << message;
  EXPECT_TRUE(fs::is_symlink(path_));
}

TEST_F(ReportFile, ReadingNamesTheFile) {
  const auto message = [&](const fs::path& path) {
    return message_of(Fault::input, [&] { read_report(path); });
  };
  EXPECT_NE(message(path_).find("No such file or directory"), std::string::npos);
  EXPECT_NE(message(folder_).find("Is a directory"), std::string::npos);
  write_file_atomically(path_, "{");
  EXPECT_NE(message(path_).find("cut off"), std::string::npos);
  EXPECT_NE(message(path_).find(path_.string()), std::string::npos);
}

TEST_F(ReportFile, AFileOfAbsurdSizeIsNotReadAtAll) {
  write_file_atomically(path_, "{");
  ASSERT_EQ(::truncate(path_.c_str(), (std::int64_t{256} << 20) + 1), 0);
  EXPECT_NE(message_of(Fault::input, [&] { read_report(path_); }).find("larger than 268435456 bytes"),
            std::string::npos);
}

TEST_F(ReportFile, TenThousandStepsStayInTheReport) {
  write_report(path_, long_report(10'000));
  EXPECT_EQ(read_report(path_), long_report(10'000));
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(ReportFile, ALongSeriesGoesIntoItsOwnFileAndComesBack) {
  const Report report = long_report(25'001);
  write_report(path_, report);
  ASSERT_EQ(names().size(), 2u);

  const Measurement brief = read_report(path_).cases[0].measurement;
  EXPECT_TRUE(brief.step_seconds.empty());
  EXPECT_EQ(brief.block_steps, 3);
  ASSERT_EQ(brief.block_mean_seconds.size(), 8334u);
  EXPECT_DOUBLE_EQ(brief.block_mean_seconds[0], 0.002 + 1e-9);
  EXPECT_DOUBLE_EQ(brief.block_mean_seconds.back(), mean(std::span(report.cases[0].measurement.step_seconds).last(2)));
  ASSERT_TRUE(brief.series_file);
  EXPECT_EQ(brief.series_file->steps, 25'001);
  EXPECT_EQ(names()[1], brief.series_file->name);

  EXPECT_EQ(read_report(path_, Series::load), report);
}

TEST_F(ReportFile, WritingAgainKeepsOneSeriesFile) {
  Report report = long_report(10'001);
  write_report(path_, report);
  report.status = ReportStatus::complete;
  write_report(path_, report);
  EXPECT_EQ(names().size(), 2u);
  write_report(path_, read_report(path_));  // one that has its series outside already
  EXPECT_EQ(read_report(path_, Series::load), report);
}

TEST_F(ReportFile, AFailedReportTakesItsSeriesFileBack) {
  Report report = long_report(10'001);
  report.cases[1].id = report.cases[0].id;
  EXPECT_NE(message_of(Fault::failed, [&] { write_report(path_, report); }), "");
  EXPECT_TRUE(names().empty());
}

TEST_F(ReportFile, AChangedOrMissingSeriesFileIsRefused) {
  write_report(path_, long_report(10'001));
  const fs::path series = folder_ / read_report(path_).cases[0].measurement.series_file->name;
  std::string text = read_whole_file(series, 1u << 20);
  text[4] = text[4] == '1' ? '2' : '1';
  write_file_atomically(series, text);
  const auto message = [&] { return message_of(Fault::input, [&] { read_report(path_, Series::load); }); };
  EXPECT_NE(message().find("SHA-256 differs"), std::string::npos) << message();
  EXPECT_EQ(read_report(path_).cases.size(), 4u);  // the report alone is still good
  fs::remove(series);
  EXPECT_NE(message().find("is missing"), std::string::npos) << message();
  fs::create_symlink("/etc/passwd", series);
  EXPECT_NE(message().find("is missing"), std::string::npos) << message();
}

TEST_F(ReportFile, AReportCannotNameASeriesElsewhere) {
  Report report = long_report(10'001);
  write_report(path_, report);
  for (const std::string name : {"../x", "/etc/passwd", "..", ""}) {
    report = read_report(path_);
    report.cases[0].measurement.series_file->name = name;
    const fs::path evil = folder_ / "evil.json";
    write_report(evil, report);
    EXPECT_NE(message_of(Fault::input, [&] { read_report(evil, Series::load); }).find("outside of its own folder"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace gpusizer::record
