// SPDX-License-Identifier: Apache-2.0
// Finds linear -> attention or gelu -> linear, and the table of words with the loss over it.
#include "workloads/transforms/slice_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"

namespace gpusizer {

namespace {

constexpr const char* flag = "--parallel";

class Finder {
 public:
  Finder(const Program& p, int64_t slices) : p_(p), slices_(slices), readers_(readers(p)) {
    found_.work.assign(p.operations.size(), SliceWork::alike);
    found_.blocks.assign(p.operations.size(), 1);
  }

  SlicePattern run() {
    const auto is_attention = [](const Operation& op) { return op.kind == OpKind::attention; };
    if (!std::ranges::any_of(p_.operations, is_attention))
      throw Error(Fault::usage,
                  fmt::format("'{}' has no attention, whose heads tensor parallelism shares out", p_.name), flag,
                  "use dp or pp instead of tp");
    for (int32_t i = 0; i < size(); ++i)
      if (op(i).kind == OpKind::linear) find_layers(i);
    require_all_attention();
    find_words();
    return std::move(found_);
  }

 private:
  int32_t size() const { return static_cast<int32_t>(p_.operations.size()); }
  const Operation& op(int32_t i) const { return p_.operations[static_cast<size_t>(i)]; }
  SliceWork& work(int32_t i) { return found_.work[static_cast<size_t>(i)]; }
  const std::vector<int32_t>& readers_of(TensorId id) const { return readers_[static_cast<size_t>(id.index)]; }

  bool is_result(TensorId id) const {
    const auto is_output = [&](const ProgramOutput& out) { return out.value == id || out.count == id; };
    return id == p_.loss || id == p_.correct || std::ranges::any_of(p_.outputs, is_output);
  }

  // The only operation that reads the tensor, as its first input; -1 where there is another, or none.
  int32_t next(TensorId id) const {
    const auto& list = readers_of(id);
    if (is_result(id) || list.size() != 1 || op(list[0]).inputs[0] != id) return -1;
    return std::ranges::count(op(list[0]).inputs, id) == 1 ? list[0] : -1;
  }

  // Whether the layer's weight and bias are parameters of its own.
  bool owns_parameters(const Operation& linear, size_t from = 1) const {
    return std::all_of(
        linear.inputs.begin() + static_cast<std::ptrdiff_t>(from), linear.inputs.end(),
        [&](TensorId id) { return p_.tensor(id).role == Role::parameter && readers_of(id).size() == 1; });
  }

  void find_layers(int32_t first) {
    const int32_t middle = next(op(first).outputs[0]);
    if (middle < 0 || (op(middle).kind != OpKind::attention && op(middle).kind != OpKind::gelu)) return;
    const int32_t last = next(op(middle).outputs[0]);
    if (last < 0 || op(last).kind != OpKind::linear || !owns_parameters(op(first)) || !owns_parameters(op(last)))
      return;
    const bool heads = op(middle).kind == OpKind::attention;
    heads ? require_heads(op(middle)) : require_width(op(first));
    work(first) = SliceWork::columns;
    found_.blocks[static_cast<size_t>(first)] = heads ? 3 : 1;
    if (heads) work(middle) = SliceWork::heads;
    work(last) = SliceWork::rows;
  }

  void require_heads(const Operation& attention) const {
    const int64_t heads = std::get<AttentionAttributes>(attention.attributes).heads;
    if (heads % slices_ != 0)
      throw Error(Fault::usage, fmt::format("{} heads cannot be shared out evenly among tp={}", heads, slices_), flag,
                  "use a tp that divides --heads");
  }

  void require_width(const Operation& linear) const {
    const int64_t width = p_.tensor(linear.outputs[0]).shape[1];
    if (width % slices_ != 0)
      throw Error(Fault::usage,
                  fmt::format("a feed-forward width of {} cannot be shared out evenly among tp={}", width, slices_),
                  flag, "use a tp that divides --feed-forward");
  }

  void require_all_attention() const {
    for (int32_t i = 0; i < size(); ++i)
      if (op(i).kind == OpKind::attention && found_.work[static_cast<size_t>(i)] != SliceWork::heads)
        throw Error(
            Fault::usage,
            fmt::format("the attention of layer '{}' does not stand between two linear layers of its own", op(i).layer),
            flag, "use dp or pp instead of tp");
  }

  bool picks_words(const Operation& gather) const {
    return gather.kind == OpKind::gather_rows && gather.inputs.size() == 2 &&
           std::get<GatherAttributes>(gather.attributes).group_rows == 0 &&
           p_.tensor(gather.inputs[0]).role == Role::parameter;
  }

  // The loss over all logits that the layer makes of the table; -1 where they are used otherwise.
  int32_t loss_over(const Operation& linear, TensorId words) const {
    if (linear.kind != OpKind::linear || linear.inputs[1] != words || !owns_parameters(linear, 2)) return -1;
    const int32_t loss = next(linear.outputs[0]);
    return loss >= 0 && op(loss).kind == OpKind::softmax_cross_entropy ? loss : -1;
  }

  void find_words() {
    std::optional<TensorId> words;
    const auto rows = [&](TensorId id) { return p_.tensor(id).shape[0]; };
    for (const Operation& each : p_.operations)
      if (picks_words(each) && (!words || rows(each.inputs[0]) > rows(*words))) words = each.inputs[0];
    if (!words || rows(*words) % slices_ != 0) return;
    const auto& uses = readers_of(*words);
    const auto can_be_shared = [&](int32_t i) { return picks_words(op(i)) || loss_over(op(i), *words) >= 0; };
    if (!std::ranges::all_of(uses, can_be_shared)) return;
    for (const int32_t i : uses) {
      const int32_t loss = loss_over(op(i), *words);
      work(i) = loss < 0 ? SliceWork::words : SliceWork::word_logits;
      if (loss >= 0) work(loss) = SliceWork::word_loss;
    }
    found_.words = words;
  }

  const Program& p_;
  int64_t slices_;
  std::vector<std::vector<int32_t>> readers_;
  SlicePattern found_;
};

}  // namespace

SlicePattern slice_pattern(const Program& forward, int64_t slices) { return Finder(forward, slices).run(); }

}  // namespace gpusizer
