// SPDX-License-Identifier: Apache-2.0
// Rules of softmax cross-entropy where each of several ranks has the logits of its own part of the vocabulary: equal
// parts, in the order of the ranks.
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

// A place in the vocabulary is told in an f32.
constexpr int64_t most_words = int64_t{1} << 24;

const VocabularyAttributes& vocabulary_of(const RuleContext& c) { return std::get<VocabularyAttributes>(c.attributes); }

// Numbers for each row; see part_outputs.
int64_t numbers(const VocabularyAttributes& a) { return a.loss.label_smoothing > 0 ? 5 : 4; }

void require_labels(const RuleContext& c, size_t labels) {
  const Shape& logits = c.shape(0);
  c.require(logits.size() == 2 && element_count(c.shape(labels)) == logits[0],
            fmt::format("labels {} do not fit logits {}", to_string(c.shape(labels)), to_string(logits)));
  c.require(c.inputs[labels]->dtype == DType::i32, "labels must be i32");
}

// (logits [N, K], labels i32 [N]) -> [numbers, N], for each row of logits x:
//   0: the largest x;  1: sum of exp(x - largest);  2: the label's x, or -infinity where the label is not here;
//   3: the first place of the largest in the whole vocabulary;  4 (with label smoothing): sum of x - largest
std::vector<OutputRule> part_outputs(const RuleContext& c) {
  const auto& a = vocabulary_of(c);
  require_labels(c, 1);
  c.require(a.first >= 0 && a.first + c.shape(0)[1] <= most_words,
            fmt::format("a vocabulary of more than {} words cannot be split", most_words));
  return {{"part", {numbers(a), c.shape(0)[0]}}};
}

// (logits [N, K], parts [ranks, numbers, N], labels) -> loss, correct, saved [, count], as softmax_cross_entropy's.
// [numbers, N] is one part that is all there is.
std::vector<OutputRule> loss_outputs(const RuleContext& c) {
  const auto& a = vocabulary_of(c);
  require_labels(c, 2);
  const Shape& parts = c.shape(1);
  const Shape each{numbers(a), c.shape(0)[0]};
  c.require((parts.size() == 2 || parts.size() == 3) && Shape(parts.end() - 2, parts.end()) == each,
            fmt::format("parts {} are not {} for each rank", to_string(parts), to_string(each)));
  std::vector<OutputRule> out{{"", {}}, {"correct", {}}, {"saved", {}, DType::opaque, Role::saved}};
  if (a.loss.ignore_negative) out.push_back({"count", {}});
  return out;
}

// (d loss, labels, saved, logits) -> d logits: of this part, with nothing to communicate
std::vector<OutputRule> loss_backward_outputs(const RuleContext& c) {
  return {{"grad_input", c.shape(3), DType::f32, Role::gradient}};
}

Gradients loss_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  return {b.apply(OpKind::vocabulary_loss_backward, op.layer, {*dys[0], op.inputs[2], op.outputs[2], op.inputs[0]},
                  op.attributes, Phase::backward, index)[0],
          std::nullopt, std::nullopt};
}

constexpr OperationRule table[] = {
    {OpKind::vocabulary_loss_part, "vocabulary_loss_part", part_outputs},
    {OpKind::vocabulary_loss, "vocabulary_loss", loss_outputs, nullptr, loss_gradients},
    {OpKind::vocabulary_loss_backward, "vocabulary_loss_backward", loss_backward_outputs},
};

}  // namespace

std::span<const OperationRule> vocabulary() { return table; }

}  // namespace gpusizer::rules
