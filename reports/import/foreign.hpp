// SPDX-License-Identifier: Apache-2.0
// Results in formats of other tools -> a report whose figures are marked as published, each with its source.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reports/record/record.hpp"

namespace gpusizer::import {

// What a log does not say of itself; empty and 0: nobody said it.
struct ForeignNames {
  std::string origin;   // the file, for messages and as source
  std::string source;   // who published it; empty: the file's name
  std::string created_utc;
  std::string model, gpu, precision;
  std::int64_t devices = 0, batch = 0;  // GPUs of the job; samples per GPU
};

// One format. To add one: a file import_*.cpp and a line in the table of foreign.cpp.
struct ForeignFormat {
  std::string_view name;         // "nccl-tests"
  std::string_view description;  // for people
  record::Report (*read)(std::string_view text, const ForeignNames& names);
};

std::span<const ForeignFormat> foreign_formats();

// Throws Error(usage) for an unknown format, Error(input) when the text is not of it or has no result. What cannot be true
// (a speed-up beyond the devices, 50 times its neighbours, more samples than the time allows) becomes a case with the
// status "invalid" and its reason: it is shown and never used.
record::Report import_foreign(std::string_view format, std::string_view text, const ForeignNames& names);

// The readers.
record::Report import_csv(std::string_view text, const ForeignNames& names);
record::Report import_mllog(std::string_view text, const ForeignNames& names);
record::Report import_nccl_tests(std::string_view text, const ForeignNames& names);
record::Report import_dllogger(std::string_view text, const ForeignNames& names);
record::Report import_google_benchmark(std::string_view text, const ForeignNames& names);

// What all readers begin with: a complete report without cases, and a case with its source and no figures.
record::Report published_report(const ForeignNames& names);
record::Case published_case(const std::string& id, const ForeignNames& names, const std::string& source);
void set_rate(record::Case& one, double value, const std::string& unit);
void hold_out(record::Case& one, const std::string& id, const std::string& sentence);
record::Metric published_metric(const std::string& id, double value, const std::string& unit, record::Better better);

}  // namespace gpusizer::import
