// SPDX-License-Identifier: Apache-2.0
// A report in words: the same cells and notes for every format, so that no two formats say different things.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/record/record.hpp"
#include "reports/render/case_notes.hpp"
#include "reports/render/table.hpp"

namespace gpusizer::render {

struct NamedReport {
  std::string name;  // its file name
  record::Report report;
};

struct CaseNotes {
  std::string case_id;
  std::vector<Note> notes;
};

struct ReportView {
  std::string title;                 // "r.json: complete, 3 cases, measured"
  std::vector<std::string> circumstances;  // when, on which machine, by which build
  std::string command_line;
  Table cases;
  Table scaling;    // one row for each layout; no rows: no case has ranks
  Table inference;  // one row for each form of a served model; no rows: there is none
  std::vector<CaseNotes> notes;  // only of cases about which there is something to say
};

// Text from the report is passed on as it is: the format must make it harmless.
ReportView view_of(const NamedReport& named);

// "500.0 images/s ± 1.8 %", "500.0 images/s per device (interval unknown)", or "-" when it is missing; `unit` is put
// after the number unless it is empty.
std::string throughput_text(const record::Throughput& throughput, const std::string& unit);

// The unit with its scope: "images/s", "images/s per device".
std::string unit_text(const record::Throughput& throughput);

}  // namespace gpusizer::render
