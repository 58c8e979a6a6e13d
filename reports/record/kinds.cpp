// SPDX-License-Identifier: Apache-2.0
// The words of each enumeration of a report, one table each.
#include "reports/record/kinds.hpp"

namespace gpusizer::record {

template <class Kind>
using Words = std::vector<std::pair<Kind, std::string_view>>;

template <>
const Words<Provenance>& kind_words<Provenance>() {
  static const Words<Provenance> words = {{Provenance::measured, "measured"},
                                          {Provenance::published, "published"},
                                          {Provenance::predicted, "predicted"},
                                          {Provenance::emulated, "emulated"}};
  return words;
}

template <>
const Words<Scope>& kind_words<Scope>() {
  static const Words<Scope> words = {{Scope::job, "job"}, {Scope::per_device, "per_device"}};
  return words;
}

template <>
const Words<Better>& kind_words<Better>() {
  static const Words<Better> words = {{Better::higher, "higher"}, {Better::lower, "lower"}};
  return words;
}

template <>
const Words<CaseStatus>& kind_words<CaseStatus>() {
  static const Words<CaseStatus> words = {
      {CaseStatus::ok, "ok"},           {CaseStatus::failed, "failed"},
      {CaseStatus::oom, "oom"},         {CaseStatus::skipped, "skipped"},
      {CaseStatus::invalid, "invalid"}, {CaseStatus::interrupted, "interrupted"}};
  return words;
}

template <>
const Words<ReportStatus>& kind_words<ReportStatus>() {
  static const Words<ReportStatus> words = {{ReportStatus::partial, "partial"},
                                            {ReportStatus::complete, "complete"},
                                            {ReportStatus::interrupted, "interrupted"}};
  return words;
}

}  // namespace gpusizer::record
