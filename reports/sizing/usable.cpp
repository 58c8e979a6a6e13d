// SPDX-License-Identifier: Apache-2.0
// The rules of use, in the order in which a person would want to hear them.
#include "reports/sizing/usable.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gpusizer::sizing {
namespace {

std::string why_not_ended_well(const record::Case& one) {
  if (one.status == record::CaseStatus::ok) return "";
  return one.reason.empty() ? record::to_word(one.status)
                            : fmt::format("{}: {}", record::to_word(one.status), one.reason);
}

std::string why_not_valid(const record::Case& one) {
  for (const record::ValidityFlag& flag : one.validity_flags)
    if (flag.blocks_advice) return fmt::format("not valid: {}", flag.sentence.empty() ? flag.id : flag.sentence);
  return "";
}

std::string why_not_measured(const record::Report& report, const record::Case& one) {
  for (const record::Provenance provenance : {report.provenance, one.throughput.provenance})
    if (provenance != record::Provenance::measured) return fmt::format("{}, not measured", record::to_word(provenance));
  return "";
}

// Sample units; tokens or bytes cannot be compared with the samples of a data set.
bool counts_samples(const std::string& unit) {
  return unit == "images/s" || unit == "samples/s" || unit == "sequences/s";
}

std::string why_no_throughput(const record::Case& one) {
  const record::Throughput& rate = one.throughput;
  if (!rate.value) return rate.null_reason.empty() ? "no throughput" : "no throughput: " + rate.null_reason;
  if (!std::isfinite(*rate.value) || *rate.value <= 0) return "its throughput is not above 0";
  if (!counts_samples(rate.unit)) return fmt::format("it counts {}, not samples of the data set", rate.unit);
  if (one.config.devices < 1) return "it does not say on how many devices it ran";
  return "";
}

}  // namespace

std::string why_not_usable(const record::Report& report, const record::Case& one) {
  for (const std::string& reason :
       {why_not_ended_well(one), why_not_valid(one), why_not_measured(report, one), why_no_throughput(one)})
    if (!reason.empty()) return reason;
  return "";
}

}  // namespace gpusizer::sizing
