// SPDX-License-Identifier: Apache-2.0
// What a run is doing, on standard error: one rewritten line on a terminal, one short line per case elsewhere.
#pragma once

#include <cstdio>
#include <string>

#include "bench/runner/clock.hpp"
#include "bench/runner/run.hpp"

namespace gpusizer::cli {

class ProgressLine {
 public:
  // `quiet`: print nothing at all.
  ProgressLine(std::FILE* stream, bool terminal, bool quiet) : stream_(stream), terminal_(terminal), quiet_(quiet) {}

  RunProgress callbacks();

 private:
  void begin(std::size_t index, std::size_t count, const std::string& id);
  void step(const LoopPlan& plan, const LoopResult& result);
  void end(const record::Case& record);
  void rewrite(const std::string& line);

  std::FILE* stream_;
  bool terminal_, quiet_;
  MonotonicClock clock_;
  double last_ = 0;
  std::string head_;
};

// "7.81 images/s ± 1.3 %, test accuracy 0.912, 60 steps, precision_reached" or the reason why there is no such number.
std::string summary_of(const record::Case& record);

}  // namespace gpusizer::cli
