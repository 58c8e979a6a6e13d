// SPDX-License-Identifier: Apache-2.0
// Takes the names of layers apart.
#include "workloads/transforms/model_blocks.hpp"

#include <algorithm>

namespace gpusizer {

namespace {

bool is_number(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view block_of(std::string_view layer) {
  std::string_view before;
  for (size_t start = 0; start < layer.size();) {
    const size_t end = std::min(layer.find_first_of(".:", start), layer.size());
    const std::string_view word = layer.substr(start, end - start);
    if (is_number(word)) return before.starts_with("layer") || before == "lstm" ? layer.substr(0, end) : "";
    before = word;
    start = end + 1;
  }
  return "";
}

std::string_view without_again(std::string_view layer) {
  return layer.ends_with(again_suffix) ? layer.substr(0, layer.size() - again_suffix.size()) : layer;
}

bool judges_predictions(OpKind kind) {
  switch (kind) {
    case OpKind::softmax_cross_entropy:
    case OpKind::mse_loss:
    case OpKind::pinball_loss:
    case OpKind::vocabulary_loss_part:
    case OpKind::vocabulary_loss:
      return true;
    default:
      return false;
  }
}

std::vector<bool> after_loss(const Program& program) {
  const auto made_by = writers(program);
  std::vector<bool> after;
  for (const Operation& op : program.operations) {
    const auto reads_backward = [&](TensorId id) {
      const int32_t writer = made_by[static_cast<size_t>(id.index)];
      return writer >= 0 && writer < static_cast<int32_t>(after.size()) && !is_persistent(program.tensor(id).role) &&
             after[static_cast<size_t>(writer)];
    };
    after.push_back(op.phase == Phase::backward || op.forward_op >= 0 ||
                    std::ranges::any_of(op.inputs, reads_backward));
  }
  return after;
}

}  // namespace gpusizer
