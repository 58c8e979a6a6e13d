// SPDX-License-Identifier: Apache-2.0
// The closed lists of words a report uses: where a number comes from, what it is counted over, how a case ended.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpusizer::record {

enum class Provenance {
  measured,   // by this program, on the hardware that it names
  published,  // by somebody else; the source is named
  predicted,  // computed by a model or the simulated device
  emulated,   // run, but not on what it stands for (FP16 arithmetic on a CPU)
};

enum class Scope { job, per_device };     // over all devices of the job together, or of one of them
enum class Better { higher, lower };      // which direction is an improvement

enum class CaseStatus {
  ok,           // ended as asked
  failed,       // threw; `reason` says what
  oom,          // did not fit; `reason` says into what
  skipped,      // not started; `reason` says why
  interrupted,  // by a signal; what was measured until then is kept
  invalid,      // ended, but its numbers must not be used (non-finite loss, audit failed)
};

enum class ReportStatus {
  partial,      // written between cases, more were to come
  complete,     // every planned case has an entry
  interrupted,  // a signal ended the run
};

// The word of a value in JSON, and back. `kind_from_word` gives false for an unknown word.
// Defined for the five enumerations above.
template <class Kind>
const std::vector<std::pair<Kind, std::string_view>>& kind_words();

template <class Kind>
std::string to_word(Kind kind) {
  for (const auto& [value, word] : kind_words<Kind>())
    if (value == kind) return std::string(word);
  return "unknown";
}

template <class Kind>
bool kind_from_word(std::string_view word, Kind& kind) {
  for (const auto& [value, known] : kind_words<Kind>()) {
    if (known != word) continue;
    kind = value;
    return true;
  }
  return false;
}

template <> const std::vector<std::pair<Provenance, std::string_view>>& kind_words<Provenance>();
template <> const std::vector<std::pair<Scope, std::string_view>>& kind_words<Scope>();
template <> const std::vector<std::pair<Better, std::string_view>>& kind_words<Better>();
template <> const std::vector<std::pair<CaseStatus, std::string_view>>& kind_words<CaseStatus>();
template <> const std::vector<std::pair<ReportStatus, std::string_view>>& kind_words<ReportStatus>();

}  // namespace gpusizer::record
