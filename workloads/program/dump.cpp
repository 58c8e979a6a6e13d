// SPDX-License-Identifier: Apache-2.0
// Writes a step program as text.
#include "workloads/program/dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

struct AttributeText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const ConvAttributes& a) const {
    return fmt::format(" stride={} padding={} groups={}{}", a.stride, a.padding, a.groups, a.relu ? " relu" : "");
  }
  std::string operator()(const PoolAttributes& a) const {
    return fmt::format(" kernel={} stride={} padding={}", a.kernel, a.stride, a.padding);
  }
  std::string operator()(const NormAttributes& a) const {
    return fmt::format(" epsilon={} momentum={}{}{}{}{}", a.epsilon, a.momentum, a.training ? "" : " running",
                       a.residual ? " residual" : "", a.relu ? " relu" : "",
                       a.gradients > 1 ? fmt::format(" gradients={}", a.gradients) : "");
  }
  std::string operator()(const AddAttributes& a) const { return a.relu ? " relu" : ""; }
  std::string operator()(const ReluAttributes& a) const {
    return a.gradients > 1 ? fmt::format(" gradients={}", a.gradients) : "";
  }
  std::string operator()(const FlattenAttributes&) const { return ""; }
  std::string operator()(const DropoutAttributes& a) const {
    return fmt::format(" rate={} stream={}{}", a.rate, a.stream, a.residual ? " residual" : "");
  }
  std::string operator()(const LossAttributes& a) const {
    return fmt::format(" label_smoothing={}{}", a.label_smoothing, a.ignore_negative ? " ignore_negative" : "");
  }
  std::string operator()(const GatherAttributes& a) const {
    return fmt::format(" rows={} offset={} stride={} period={} group={}x{}{}", a.rows, a.offset, a.stride, a.period,
                       a.group_indices, a.group_rows, a.part ? fmt::format(" first={}", a.first) : "");
  }
  std::string operator()(const SwapAttributes& a) const { return fmt::format(" {}x{}", a.outer, a.inner); }
  std::string operator()(const LayerNormAttributes& a) const { return fmt::format(" epsilon={}", a.epsilon); }
  std::string operator()(const AttentionAttributes& a) const {
    return fmt::format(" heads={} sequence={}{} rate={} stream={}", a.heads, a.sequence, a.masked ? " masked" : "", a.rate,
                       a.stream);
  }
  std::string operator()(const LstmAttributes& a) const { return fmt::format(" steps={}", a.steps); }
  std::string operator()(const QuantileAttributes& a) const {
    return fmt::format(" quantiles={}", fmt::join(a.quantiles, ","));
  }
  std::string operator()(const CastAttributes& a) const { return fmt::format(" to={}", to_string(a.to)); }
  std::string operator()(const ScaleAttributes& a) const { return fmt::format(" factor={}", a.factor); }
  std::string operator()(const QuantizeAttributes& a) const {
    return fmt::format(" to={} scale={:.6g}", to_string(a.to), a.scale);
  }
  std::string operator()(const Int8Attributes& a) const {
    constexpr const char* activations[] = {"", " relu", " gelu"};
    return fmt::format(" x_scale={:.6g}{}{}{}", a.x_scale, (*this)(a.to),
                       a.residual ? fmt::format(" residual_scale={:.6g}", a.residual_scale) : "",
                       activations[static_cast<size_t>(a.activation)]);
  }
  std::string operator()(const GradientNormAttributes& a) const {
    return fmt::format(" clip={}{}", a.clip, a.scaled ? " scaled" : "");
  }
  std::string operator()(const LossScaleAttributes& a) const {
    return fmt::format(" growth={} backoff={} interval={} largest={}", a.growth, a.backoff, a.interval, a.largest);
  }
  std::string operator()(const SgdAttributes& a) const {
    return fmt::format(" momentum={} weight_decay={}{}", a.momentum, a.weight_decay, shared(a.l1, a.scaled));
  }
  std::string operator()(const AdamAttributes& a) const {
    return fmt::format(" beta1={} beta2={} epsilon={} weight_decay={}{}{}", a.beta1, a.beta2, a.epsilon,
                       a.update.weight_decay, a.decoupled ? " decoupled" : "", shared(a.update.l1, a.update.scaled));
  }
  std::string operator()(const AdagradAttributes& a) const {
    return fmt::format(" epsilon={} weight_decay={}{}", a.epsilon, a.update.weight_decay,
                       shared(a.update.l1, a.update.scaled));
  }
  std::string operator()(const CollectiveAttributes& a) const {
    return fmt::format(" rank={} of={}{}{}", a.rank, fmt::join(a.ranks, ","),
                       a.owners.empty() ? "" : fmt::format(" owners={}", fmt::join(a.owners, ",")),
                       a.delay == 0 ? "" : fmt::format(" delay={}", a.delay));
  }
  std::string operator()(const MessageAttributes& a) const {
    return fmt::format(" peer={}{}", a.peer, a.sends_before > 0 ? fmt::format(" sends_before={}", a.sends_before) : "");
  }
  std::string operator()(const VocabularyAttributes& a) const {
    return fmt::format(" first={}{}", a.first, (*this)(a.loss));
  }
  static std::string shared(double l1, bool scaled) {
    return (l1 > 0 ? fmt::format(" l1={}", l1) : "") + (scaled ? " scaled" : "");
  }
};

std::string tensor_line(const Tensor& t) {
  const std::string part = t.part ? fmt::format(" part {} of {} of {}", t.part->index, t.part->count,
                                                to_string(t.part->whole))
                                  : "";
  return fmt::format("tensor %{} {} {} {} {}{}\n", t.id.index, t.name, to_string(t.dtype), to_string(t.shape),
                     to_string(t.role), part);
}

std::string id_list(const std::vector<TensorId>& ids) {
  std::string text;
  for (const TensorId id : ids) text += fmt::format("{}%{}", text.empty() ? "" : ", ", id.index);
  return text;
}

std::string operation_line(const Program& p, const Operation& op) {
  std::string results;
  for (const TensorId id : op.outputs) {
    const Tensor& t = p.tensor(id);
    const bool is_short = t.dtype == DType::f16 || t.dtype == DType::bf16 || t.dtype == DType::tf32;
    results += fmt::format("{}%{} {}{}", results.empty() ? "" : ", ", id.index,
                           is_short ? fmt::format("{} ", to_string(t.dtype)) : "", to_string(t.shape));
  }
  return fmt::format("{:<8} {} = {}({}){}  # {}\n", to_string(op.phase), results, operation_name(op.kind),
                     id_list(op.inputs), std::visit(AttributeText{}, op.attributes), op.layer);
}

}  // namespace

std::string dump(const Program& program) {
  std::string text = fmt::format("program {} batch={}\n", program.name, program.batch);
  for (const Tensor& t : program.tensors)
    if (t.role == Role::input || is_persistent(t.role)) text += tensor_line(t);
  for (const Operation& op : program.operations) text += operation_line(program, op);
  for (const ProgramOutput& out : program.outputs)
    text += fmt::format("output {} %{}{}\n", out.name, out.value.index,
                        out.count.index >= 0 ? fmt::format("{}%{}", out.summed ? " of " : " over ", out.count.index) : "");
  if (program.loss.index >= 0) text += fmt::format("loss %{}\n", program.loss.index);
  return text;
}

}  // namespace gpusizer
