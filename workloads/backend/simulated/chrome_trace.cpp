// SPDX-License-Identifier: Apache-2.0
// The trace event format: a JSON object whose "traceEvents" are complete events ("X") with times in microseconds.
#include <fmt/format.h>

#include "workloads/backend/simulated/simulate_step.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer::simulated {
namespace {

constexpr const char* stream_names[] = {"compute", "collectives", "send", "receive"};

std::string escaped_json(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') (result += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20) result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else result += c;
  }
  return result;
}

}  // namespace

std::string chrome_trace(std::span<const Role> roles, const SimulatedStep& step, const std::string& title) {
  std::string text = fmt::format("{{\"displayTimeUnit\": \"ms\", \"otherData\": {{\"title\": \"{}\", \"provenance\": \"predicted\"}},\n\"traceEvents\": [",
                                 escaped_json(title));
  const char* separator = "\n";
  const auto add = [&](const std::string& event) {
    text += separator + event;
    separator = ",\n";
  };
  for (std::size_t r = 0; r < roles.size(); ++r) {
    add(fmt::format(R"({{"name": "process_name", "ph": "M", "pid": {}, "args": {{"name": "rank {}"}}}})", r, roles[r].rank));
    for (int s = 0; s < 4; ++s)
      add(fmt::format(R"({{"name": "thread_name", "ph": "M", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}})", r, s,
                      stream_names[s]));
  }
  for (const Span& span : step.spans) {
    const Operation& op = roles[span.role].step->program.operations[static_cast<std::size_t>(span.operation)];
    add(fmt::format(R"({{"name": "{} {}", "cat": "{}", "ph": "X", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}}})",
                    escaped_json(rule(op.kind).name), escaped_json(op.layer), to_string(op.phase), span.role, span.stream,
                    1e6 * span.begin_seconds, 1e6 * (span.end_seconds - span.begin_seconds)));
  }
  return text + "\n]}\n";
}

}  // namespace gpusizer::simulated
