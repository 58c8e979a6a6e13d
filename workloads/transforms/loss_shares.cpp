// SPDX-License-Identifier: Apache-2.0
// Finds the losses of a program, and multiplies them and the gradients that enter them by their shares.
#include "workloads/transforms/loss_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "gpusizer/error.hpp"
#include "workloads/transforms/insertion.hpp"

namespace gpusizer {

namespace {

bool is_weighted_loss(OpKind kind) {
  return kind == OpKind::softmax_cross_entropy || kind == OpKind::vocabulary_loss || kind == OpKind::mse_loss ||
         kind == OpKind::pinball_loss;
}

bool is_loss_backward(OpKind kind) {
  return kind == OpKind::softmax_cross_entropy_backward || kind == OpKind::vocabulary_loss_backward ||
         kind == OpKind::mse_loss_backward || kind == OpKind::pinball_loss_backward;
}

// Whether a loss leaves out negative labels: then what it is a mean over differs from part to part.
bool counts_labels(const Operation& op) {
  if (const auto* a = std::get_if<LossAttributes>(&op.attributes)) return a->ignore_negative;
  const auto* a = std::get_if<VocabularyAttributes>(&op.attributes);
  return a && a->loss.ignore_negative;
}

TensorId labels_of(const Operation& op) { return op.inputs[op.kind == OpKind::vocabulary_loss ? 2 : 1]; }

class Weighing {
 public:
  Weighing(Program program, const LossShare& share)
      : edit_(std::move(program)), share_(share), constant_(share.batch / share.micro_batches) {}

  Program run() {
    std::map<std::string, std::vector<int32_t>> counted;  // by layer: the micro-batches' losses
    for (int32_t i = 0; i < count(); ++i) {
      if (!is_weighted_loss(op(i).kind)) continue;
      if (counts_labels(op(i))) counted[op(i).layer].push_back(i);
      else weigh_constant(i);
    }
    for (const auto& [layer, losses] : counted) weigh_counted(layer, losses);
    weigh_outputs();
    return edit_.finish();
  }

 private:
  int32_t count() const { return static_cast<int32_t>(edit_.operations().size()); }
  const Operation& op(int32_t i) const { return edit_.operations()[static_cast<size_t>(i)]; }
  const std::string& name(TensorId id) const { return edit_.program().tensor(id).name; }

  void weigh_constant(int32_t loss) {
    if (constant_ == 1) return;
    weigh_value(loss, std::nullopt);
    for (const int32_t b : backward_of(loss)) {
      const TensorId gradient = op(b).inputs[0];
      const auto [known, is_new] = constant_gradients_.try_emplace(gradient);
      if (is_new)
        known->second = edit_.apply(edit_.writer(gradient), OpKind::scale, name(gradient) + ":share", {gradient},
                                    ScaleAttributes{constant_}, Phase::backward)[0];
      edit_.replace_input(b, gradient, known->second);
    }
  }

  // Of the losses of one layer: labels are counted in each, and all counts summed.
  void weigh_counted(const std::string& layer, const std::vector<int32_t>& losses) {
    const std::vector<int32_t> known = divisions(losses);
    if (!known.empty()) return reduce_divisors(known);
    if (losses.size() == 1 && share_.ranks.size() <= 1) return;
    int32_t place = -1;  // where all labels are there
    for (const int32_t loss : losses) place = std::max(place, edit_.writer(labels_of(op(loss))));
    std::vector<TensorId> counts;
    for (const int32_t loss : losses)
      counts.push_back(edit_.apply(place, OpKind::count_labels, name(op(loss).outputs[0]) + ":labels",
                                   {labels_of(op(loss))}, {}, Phase::forward)[0]);
    TensorId all = counts[0];
    for (size_t i = 1; i < counts.size(); ++i)
      all = edit_.apply(place, OpKind::add, fmt::format("{}:labels@0..{}", layer, i), {all, counts[i]}, AddAttributes{},
                        Phase::forward)[0];
    all = reduced(place, layer, all);
    for (size_t i = 0; i < losses.size(); ++i) {
      const std::string own = name(op(losses[i]).outputs[0]) + ":share_of_labels";
      weigh_by(losses[i], edit_.apply(place, OpKind::divide, own, {counts[i], all}, {}, Phase::forward)[0]);
    }
  }

  TensorId reduced(int32_t place, const std::string& layer, TensorId count) {
    if (share_.ranks.size() <= 1) return count;
    return edit_.apply(place, OpKind::all_reduce, layer + ":labels", {count},
                       CollectiveAttributes{share_.rank, share_.ranks}, Phase::communicate)[0];
  }

  void weigh_by(int32_t loss, TensorId share) {
    weigh_value(loss, share);
    for (const int32_t b : backward_of(loss)) {
      const TensorId gradient = op(b).inputs[0];
      const std::string weighted = name(op(loss).outputs[0]) + ":grad_share";
      edit_.replace_input(b, gradient, edit_.apply(b - 1, OpKind::scale_by, weighted, {gradient, share}, {},
                                                   Phase::backward)[0]);
    }
  }

  // The value as everybody else reads it.
  void weigh_value(int32_t loss, std::optional<TensorId> share) {
    const TensorId value = op(loss).outputs[0];
    edit_.replace_everywhere(value, weighted(loss, value, share));
  }

  TensorId weighted(int32_t place, TensorId value, std::optional<TensorId> share) {
    std::string layer = name(value) + ":share";
    while (edit_.program().find(layer)) layer += "'";  // there from the time before
    if (share) return edit_.apply(place, OpKind::scale_by, layer, {value, *share}, {}, Phase::forward)[0];
    return edit_.apply(place, OpKind::scale, layer, {value}, ScaleAttributes{constant_}, Phase::forward)[0];
  }

  std::vector<int32_t> backward_of(int32_t loss) const {
    std::vector<int32_t> found;
    for (int32_t i = 0; i < count(); ++i)
      if (op(i).forward_op == loss && is_loss_backward(op(i).kind)) found.push_back(i);
    return found;
  }

  // The divisions that made shares of these losses before.
  std::vector<int32_t> divisions(const std::vector<int32_t>& losses) const {
    std::vector<int32_t> found;
    for (const int32_t loss : losses)
      for (const Operation& reader : edit_.operations()) {
        if (reader.kind != OpKind::scale_by || reader.inputs[0] != op(loss).outputs[0]) continue;
        const int32_t writer = edit_.writer(reader.inputs[1]);
        if (writer >= 0 && op(writer).kind == OpKind::divide) found.push_back(writer);
      }
    return found;
  }

  void reduce_divisors(const std::vector<int32_t>& divisions) {
    std::map<TensorId, TensorId> sums;
    for (const int32_t d : divisions) {
      const TensorId divisor = op(d).inputs[1];
      const auto [known, is_new] = sums.try_emplace(divisor);
      if (is_new) known->second = reduced(edit_.writer(divisor), op(d).layer, divisor);
      edit_.replace_input(d, divisor, known->second);
    }
  }

  // Whether a value is a loss's, or a sum of such.
  bool is_of_losses(TensorId value) const {
    const int32_t writer = edit_.writer(value);
    if (writer < 0) return false;
    const Operation& made = op(writer);
    switch (made.kind) {
      case OpKind::add: return is_of_losses(made.inputs[0]) && is_of_losses(made.inputs[1]);
      case OpKind::scale:
      case OpKind::scale_by: return is_of_losses(made.inputs[0]);
      default: return is_weighted_loss(made.kind) && made.outputs[0] == value;
    }
  }

  // Means that are no losses.
  void weigh_outputs() {
    const Program before = edit_.program();
    if (before.loss.index >= 0 && !is_of_losses(before.loss))
      throw Error(Fault::usage, fmt::format("'{}' is no sum of losses that could be weighted", name(before.loss)),
                  before.name);
    std::set<TensorId> done;
    for (const ProgramOutput& out : before.outputs) {
      if (out.summed || is_of_losses(out.value) || !done.insert(out.value).second) continue;
      if (out.count.index >= 0)
        throw Error(Fault::usage, fmt::format("'{}' is a mean over a count of its own", out.name), before.name,
                    "make it a sum");
      if (constant_ != 1)
        edit_.replace_everywhere(out.value, weighted(edit_.writer(out.value), out.value, std::nullopt));
    }
  }

  Insertion edit_;
  const LossShare& share_;
  double constant_;  // of a loss over the batch
  std::map<TensorId, TensorId> constant_gradients_;
};

}  // namespace

Program weigh_losses(Program program, const LossShare& share) {
  if (share.batch < 0 || share.batch > 1 || share.micro_batches < 1)
    throw Error(Fault::usage, fmt::format("a part cannot have a share of {} over {} micro-batches", share.batch,
                                          share.micro_batches), program.name);
  return Weighing(std::move(program), share).run();
}

}  // namespace gpusizer
