// SPDX-License-Identifier: Apache-2.0
// Which cases of the reports may be used for advice, and on what hardware each was measured.
#pragma once

#include <span>
#include <vector>

#include "reports/sizing/advice.hpp"
#include "reports/sizing/advise.hpp"

namespace gpusizer::sizing {

// One usable case.
struct Evidence {
  Workload workload;
  Variant variant;
  Hardware hardware;
  bool stated = false;  // the instance type comes from the user, not from the report
  Interval samples_per_second;
  CaseReference reference;
  std::vector<std::string> warnings;
};

struct Gathered {
  std::vector<Evidence> evidence;
  std::vector<SetAside> set_aside;
};

// Every case of every report becomes evidence or is set aside with its reason. A measurement that is given twice, in
// copies of a report, counts once. Instance names with a price in the goal need not be in the catalogue.
// Throws Error(usage) for a stated instance that is unknown, ambiguous, or contradicts its report.
Gathered gather(std::span<const ReportInput> reports, const cloud::Catalog& catalog, const Goal& goal);

// "resnet18 (classes=10, stem=cifar) on fashion-mnist, sgd". Options with long values are left out, and those of the
// data that the model has as well.
std::string to_text(const Workload& workload);

// "batch 32, fp32, 4 threads".
std::string to_text(const Variant& variant);

// "c7i.xlarge (aws)" or "8 x A100-SXM4-40GB".
std::string to_text(const Hardware& hardware);

}  // namespace gpusizer::sizing
