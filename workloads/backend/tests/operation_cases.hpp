// SPDX-License-Identifier: Apache-2.0
// Small programs, each around one operation or fused pattern: what gradients and backends are tested on.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// To add a case: one line in the table of image_cases.cpp or sequence_cases.cpp. It is then checked by finite differences, in its fused
// against its plain form, and on every backend against the reference; nothing else has to be written.
struct OperationCase {
  std::string name;  // letters, digits and _
  Program (*build)();  // the forward program, with loss
  bool fuses = false;  // whether lowering must find something to fuse in it
  // What an fp32 backend may differ by: the largest difference of any value of a tensor, relative to the tensor's root
  // mean square (so that an algorithm that mixes neighbours, like Winograd's, is judged fairly).
  double tolerance = 2e-5;

  friend void PrintTo(const OperationCase& c, std::ostream* out) { *out << c.name; }  // GoogleTest shows it so
};

const std::vector<OperationCase>& image_cases();
const std::vector<OperationCase>& sequence_cases();
const std::vector<OperationCase>& operation_cases();  // all of them

}  // namespace gpusizer
