// SPDX-License-Identifier: Apache-2.0
// Every report format: golden files, untrusted text, and what each of them must show.
#include "reports/render/formats.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "gpusizer/error.hpp"
#include "reports/record/tests/example_report.hpp"
#include "reports/render/markdown.hpp"
#include "reports/render/terminal.hpp"
#include "reports/render/tests/expect_golden.hpp"
#include "reports/render/text.hpp"

namespace gpusizer::render {
namespace {

NamedReport named_example() { return {"r.json", record::example_report()}; }

std::string rendered(const Format& format, const NamedReport& report, const Look& look = {}) {
  return format.render(std::span(&report, 1), look);
}

TEST(Formats, GoldenFiles) {
  for (const Format& format : formats())
    expect_golden(rendered(format, named_example()), std::string(format.name) + ".txt");
  expect_golden(rendered(format_named("terminal"), named_example(), {80, false}), "terminal_80.txt");
  expect_golden(rendered(format_named("terminal"), named_example(), {120, true}), "terminal_120_colour.txt");
}

TEST(Formats, AnUnknownNameListsTheKnownOnes) {
  try {
    format_named("pdf");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_EQ(error.hint(), "the formats are: terminal, markdown");
  }
}

TEST(Formats, SameReportSameBytes) {
  for (const Format& format : formats()) EXPECT_EQ(rendered(format, named_example()), rendered(format, named_example()));
}

TEST(Formats, EveryCaseStatusReasonFlagAndSourceIsShown) {
  NamedReport named = named_example();
  named.report.cases[2].throughput.provenance = record::Provenance::predicted;
  for (const Format& format : formats()) {
    const std::string text = rendered(format, named);
    for (const char* part : {"resnet8", "fashion", "images/s", "500.0 ± 1.8 %", "100 ms", "650 ms", "91.2 %", "173 MiB",
                             "interrupted", "SIGTERM", "oom", "the plan needs 96.2 GiB", "not for advice",
                             "The half width is 6.1", "mixed sources", "predicted", "c14e6e4d", "Example CPU 8000"})
      EXPECT_NE(text.find(part), std::string::npos) << format.name << " does not show " << part;
  }
}

TEST(Formats, AMissingThroughputIsNeverZero) {
  NamedReport named = named_example();
  named.report.cases.resize(1);
  named.report.cases[0].throughput = {{}, {}, {}, "no steady state was reached", "images/s", {}, {}, {}};
  for (const Format& format : formats()) {
    const std::string text = rendered(format, named);
    EXPECT_NE(text.find("no steady state was reached"), std::string::npos) << format.name;
    EXPECT_EQ(text.find(" 0 "), std::string::npos) << format.name;
  }
}

TEST(Formats, UntrustedTextIsHarmlessEverywhere) {
  const std::string evil = "\x1b[2J<script>|`*@x\n# [a](http://b)";
  NamedReport named = named_example();
  named.name = evil;
  record::Report& report = named.report;
  report.command_line = report.environment.host_name = report.environment.cpu_model = report.tool.git_commit = evil;
  for (auto& run : report.cases) {
    run.id = run.config.model = run.config.data = run.config.device = run.config.precision = run.reason = evil;
    run.throughput.unit = evil;
    run.validity_flags = {{evil, evil, true, {}}};
  }
  const std::size_t lines = 60;  // an injected line end would make more of them
  for (const Format& format : formats()) {
    const std::string text = rendered(format, named);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << format.name;
    EXPECT_LT(std::count(text.begin(), text.end(), '\n'), static_cast<std::ptrdiff_t>(lines)) << format.name;
  }
  std::string markdown = rendered(format_named("markdown"), named);
  std::istringstream stream(markdown);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("|", 0) != 0) continue;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
      if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++bars;
    EXPECT_TRUE(bars == 13 || bars == 11 || bars == 7) << line;  // of cases, of served models
    EXPECT_EQ(line.find('<'), std::string::npos) << line;
  }
}

TEST(Terminal, NoLineIsWiderThanTheTerminal) {
  for (const std::size_t width : {60u, 80u, 100u, 132u, 200u}) {
    std::istringstream stream(rendered(format_named("terminal"), named_example(), {width, false}));
    for (std::string line; std::getline(stream, line);) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(Markdown, TextCannotBecomeMarkup) {
  EXPECT_EQ(markdown_text("a|b"), "a\\|b");
  EXPECT_EQ(markdown_text("<img src=x>&amp;"), "&lt;img src=x&gt;&amp;amp;");
  EXPECT_EQ(markdown_text("[a](http://b) @me"), "\\[a\\](http&#58;//b) &#64;me");
  EXPECT_EQ(markdown_text("at 12:01:30: www.b :smile:"), "at 12:01:30: www&#46;b &#58;smile:");
  EXPECT_EQ(markdown_text("**x** `y` _z_\n# h"), "\\*\\*x\\*\\* \\`y\\` \\_z\\_\\\\n\\# h");
}

TEST(Markdown, ACodeSpanCannotBeEnded) {
  EXPECT_EQ(markdown_code("a b"), "`a b`");
  EXPECT_EQ(markdown_code("a``b"), "```a``b```");
  EXPECT_EQ(markdown_code("`"), "`` ` ``");
}

TEST(ReportView, ThroughputInWords) {
  using record::Provenance, record::Scope;
  const record::Throughput known{500.0, 490.0, 520.0, "", "images/s", Scope::job, Provenance::measured, {}};
  EXPECT_EQ(throughput_text(known, unit_text(known)), "500.0 images/s ± 4.0 %");
  EXPECT_EQ(throughput_text(known, ""), "500.0 ± 4.0 %");
  const record::Throughput rough{500.0, {}, {}, "one step", "images/s", Scope::per_device, Provenance::measured, {}};
  EXPECT_EQ(throughput_text(rough, unit_text(rough)), "500.0 images/s per device (interval unknown)");
  EXPECT_EQ(throughput_text({}, "images/s"), "-");
  const record::Throughput wide{500.0, 200.0, 1265.0, "", "images/s", Scope::job, Provenance::measured, {}};
  EXPECT_EQ(throughput_text(wide, "images/s"), "500.0 images/s (200.0 to 1265)");
}

TEST(ReportView, TheCommandThatRepeatsARunStartsItsProcesses) {
  NamedReport named = named_example();
  named.report.command_line = "gpusizer run --devices 4";
  named.report.cases[0].config.parallel.emplace().ranks = 4;
  const std::pair<const char*, const char*> expected[] = {
      {"threads", "gpusizer run --devices 4"},
      {"mpi", "mpirun -np 4 gpusizer run --devices 4"},
      {"wire over mpi", "mpirun -np 4 gpusizer run --devices 4"},
      {"tcp", "WORLD_SIZE=4 RANK=0 (to 3) MASTER_ADDR=... MASTER_PORT=... gpusizer run --devices 4"}};
  for (const auto& [transport, command] : expected) {
    named.report.cases[0].config.parallel->transport = transport;
    EXPECT_EQ(view_of(named).command_line, command);
  }
}

TEST(ReportView, UnitsThatDifferStandInTheCells) {
  NamedReport named = named_example();
  named.report.cases[2].throughput.scope = record::Scope::per_device;
  const std::string text = rendered(format_named("terminal"), named);
  EXPECT_NE(text.find("500.0 images/s ± 1.8 %"), std::string::npos);
  EXPECT_NE(text.find("500.0 images/s per device ± 1.8 %"), std::string::npos);
}

TEST(ReportView, ManyDevicesAndPlannedMemory) {
  NamedReport named = named_example();
  record::Case& run = named.report.cases[0];
  run.config.devices = 8;
  run.config.replicas = 4;
  run.config.device = "H100-SXM5";
  run.config.device_kind = "cuda";
  run.memory.peak_rss_bytes = {};
  run.config.target_accuracy = 0.9;
  run.training.time_to_target_seconds = 61.5;
  const std::string text = rendered(format_named("terminal"), named);
  for (const char* part : {"4 x 100", "8 x H100-SXM5", "50.0 MiB planned", "accuracy 90.0 % was reached after 61.5 s"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace gpusizer::render
