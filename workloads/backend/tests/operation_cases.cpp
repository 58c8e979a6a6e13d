// SPDX-License-Identifier: Apache-2.0
// All operation cases in one list.
#include "workloads/backend/tests/operation_cases.hpp"

namespace gpusizer {

namespace {

std::vector<OperationCase> collect() {
  std::vector<OperationCase> all = image_cases();
  all.insert(all.end(), sequence_cases().begin(), sequence_cases().end());
  return all;
}

}  // namespace

const std::vector<OperationCase>& operation_cases() {
  static const std::vector<OperationCase> all = collect();
  return all;
}

}  // namespace gpusizer
