// SPDX-License-Identifier: Apache-2.0
// Writes a lowered program as text.
#include "workloads/lowering/dump_lowered.hpp"

#include <fmt/format.h>

#include "workloads/program/dump.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

std::string dump(const LoweredProgram& lowered) {
  std::string text = fmt::format("target {}\n{}", lowered.target, dump(lowered.program));
  for (const Tensor& t : lowered.program.tensors)
    if (const int64_t bytes = lowered.tensor_bytes[static_cast<size_t>(t.id.index)]; bytes > 0)
      text += fmt::format("bytes %{} {} {} {}\n", t.id.index, t.name, to_string(t.role), bytes);
  for (size_t i = 0; i < lowered.program.operations.size(); ++i)
    if (const int64_t bytes = lowered.workspace_bytes[i]; bytes > 0) {
      const Operation& op = lowered.program.operations[i];
      text += fmt::format("workspace {} {} {}\n", operation_name(op.kind), op.layer, bytes);
    }
  return text;
}

}  // namespace gpusizer
