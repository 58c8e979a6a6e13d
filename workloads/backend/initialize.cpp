// SPDX-License-Identifier: Apache-2.0
// Starting values for an executor's persistent tensors.
#include <set>
#include <string>

#include "workloads/backend/backend.hpp"
#include "workloads/program/initial_values.hpp"

namespace gpusizer {

void initialize(Executor& executor, int program_count, uint64_t seed) {
  std::set<std::string> written;
  for (int index = 0; index < program_count; ++index) {
    const LoweredProgram& lowered = executor.program(index);
    for (const Tensor& t : lowered.program.tensors) {
      const bool touched = lowered.tensor_bytes[static_cast<size_t>(t.id.index)] > 0;
      if (is_persistent(t.role) && touched && written.insert(t.name).second)
        executor.write(t.name, initial_values(t, seed));
    }
  }
}

}  // namespace gpusizer
