// SPDX-License-Identifier: Apache-2.0
// The sizing answer: measured reports + catalogue + goal -> what each instance would take and cost.
#pragma once

#include <span>
#include <string>

#include "cloud/catalog/catalog.hpp"
#include "reports/record/record.hpp"
#include "reports/sizing/advice.hpp"

namespace gpusizer::sizing {

// A report and what the user says about it.
struct ReportInput {
  std::string name;  // its file name, for messages
  record::Report report;
  std::string as_instance;  // the instance type it was measured on ([CLOUD:]NAME[@REGION]); empty: not stated
};

// Pure: the same input gives the same answer. Only cases that ended well, with valid and measured numbers, give a
// figure; a figure is applied only to the instance type it was measured on or, for GPUs, to instances with the same GPU
// and count. Nothing is extrapolated. A CPU run counts for an instance only when the report or the user names that
// instance. Throws Error(usage) for a goal outside of its range, an unknown instance or price name, and a stated
// instance that contradicts its report.
Advice advise(std::span<const ReportInput> reports, const cloud::Catalog& catalog, const Goal& goal);

// Throws Error(usage), naming the flag, unless samples and epochs are at least 1 and within sane limits, and deadline,
// budget and prices are finite and above 0.
void check_goal(const Goal& goal);

// Is there an offer at all?
bool has_offers(const Advice& advice);

}  // namespace gpusizer::sizing
