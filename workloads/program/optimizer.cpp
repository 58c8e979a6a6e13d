// SPDX-License-Identifier: Apache-2.0
// Adds the parameter updates to a differentiated program.
#include "workloads/program/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "gpusizer/error.hpp"
#include "workloads/program/autodiff.hpp"
#include "workloads/program/builder.hpp"

namespace gpusizer {

namespace {

struct KindName {
  OptimizerKind kind;
  std::string_view name;
};
constexpr KindName kinds[] = {{OptimizerKind::sgd, "sgd"},
                              {OptimizerKind::adam, "adam"},
                              {OptimizerKind::adamw, "adamw"},
                              {OptimizerKind::adagrad, "adagrad"},
                              {OptimizerKind::lamb, "lamb"}};

bool is_share(double value) { return value >= 0 && value < 1; }
bool is_amount(double value) { return value >= 0 && std::isfinite(value); }

void check(const OptimizerOptions& o) {
  if (!is_share(o.momentum) || !is_amount(o.weight_decay))
    throw Error(Fault::usage, fmt::format("momentum {} and weight decay {} cannot be", o.momentum, o.weight_decay));
  if (!is_share(o.beta1) || !is_share(o.beta2) || !is_amount(o.epsilon))
    throw Error(Fault::usage, fmt::format("betas {}, {} and epsilon {} cannot be", o.beta1, o.beta2, o.epsilon));
  if (!is_amount(o.l1) || !is_amount(o.clip_norm))
    throw Error(Fault::usage, fmt::format("L1 {} and a clip norm of {} cannot be", o.l1, o.clip_norm));
}

double epsilon_of(const OptimizerOptions& o) {
  if (o.epsilon > 0) return o.epsilon;
  if (o.kind == OptimizerKind::lamb) return 1e-6;
  return o.kind == OptimizerKind::adagrad ? 1e-10 : 1e-8;
}

bool counts_steps(OptimizerKind kind) {
  return kind == OptimizerKind::adam || kind == OptimizerKind::adamw || kind == OptimizerKind::lamb;
}

// Adds the updates of one program; what all of them share is made once.
class Updates {
 public:
  Updates(Program program, const std::vector<std::pair<TensorId, TensorId>>& gradients, const OptimizerOptions& options,
          const ParallelUpdate& parallel)
      : b_(std::move(program)), o_(options), parallel_(parallel), rate_(b_.scalar("learning_rate", 0)) {
    add_norm(gradients);
    add_factor();
    if (counts_steps(o_.kind)) count_steps();
  }

  void add(TensorId parameter, TensorId gradient) {
    const std::string name = b_.program().tensor(parameter).name;
    require_whole(b_.program().tensor(parameter));
    std::vector<TensorId> inputs{parameter, gradient, rate_};
    for (const char* state : states()) {
      inputs.push_back(b_.persistent(name + state, b_.shape(parameter), Role::optimizer_state, {}));
      like_[inputs.back()] = parameter;
    }
    if (steps_) inputs.push_back(*steps_);
    if (factor_) inputs.push_back(*factor_);
    b_.apply(kind(), name, inputs, attributes(b_.shape(parameter).size() > 1 || o_.decay_vectors), Phase::update);
  }

  // Owners give what they updated to the others.
  void hand_over(const ParallelUpdate::Handover& handover, size_t number) {
    std::vector<TensorId> parameters;
    for (const std::string& name : handover.parameters) parameters.push_back(known(name));
    b_.apply(OpKind::broadcast, fmt::format("parameters.{}", number), parameters,
             CollectiveAttributes{parallel_.rank, handover.ranks, handover.owners}, Phase::communicate);
  }

  // State is split among ranks as its parameter is.
  Program finish() {
    Program program = b_.finish();
    for (const auto& [state, parameter] : like_) program.tensor(state).part = program.tensor(parameter).part;
    return program;
  }

 private:
  void require_whole(const Tensor& parameter) const {
    if (o_.kind == OptimizerKind::lamb && parameter.part)
      throw Error(Fault::usage,
                  fmt::format("LAMB needs the norm of '{}', of which each rank has a part", parameter.name),
                  "--optimizer", "use adamw, or tp=1");
  }
  TensorId known(const std::string& parameter) const {
    const Tensor* found = b_.program().find(parameter);
    if (!found || found->role != Role::parameter)
      throw Error(Fault::usage, fmt::format("there is no parameter '{}' to hand over", parameter), b_.program().name);
    return found->id;
  }

  void add_norm(const std::vector<std::pair<TensorId, TensorId>>& gradients) {
    const Tensor* found = b_.program().find("loss_scale");
    if (!found && o_.clip_norm == 0) return;
    const std::optional<TensorId> scale = found ? std::optional(found->id) : std::nullopt;
    const GradientNormAttributes attributes{o_.clip_norm, scale.has_value()};
    std::vector<TensorId> inputs;
    const bool spread = parallel_.norm_ranks.size() > 1;
    if (spread) {
      inputs.push_back(squares_of_all(gradients));
    } else {
      for (const auto& pair : gradients) inputs.push_back(pair.second);
    }
    if (scale) inputs.push_back(*scale);
    const auto out =
        b_.apply(spread ? OpKind::norm_factor : OpKind::gradient_norm, "gradients", inputs, attributes, Phase::update);
    factor_ = out[0];
    b_.add_output({"gradient_factor", out[0], {}});
    b_.add_output({"gradient_norm", out[1], {}});
    if (!scale) return;
    const TensorId good = b_.persistent("loss_scale:good_steps", {}, Role::optimizer_state, {});
    b_.apply(OpKind::loss_scale_update, "loss_scale", {*scale, good, *factor_}, LossScaleAttributes{}, Phase::update);
  }

  void add_factor() {
    if (parallel_.factor.empty()) return;
    const Tensor* found = b_.program().find(parallel_.factor);
    if (!found)
      throw Error(Fault::usage, fmt::format("there is no factor '{}' to update by", parallel_.factor), b_.program().name);
    const TensorId id = found->id;
    factor_ = factor_ ? b_.apply(OpKind::scale_by, "gradients:applied", {*factor_, id}, {}, Phase::update)[0] : id;
  }

  // The sum over all ranks of the squares of what each counts.
  TensorId squares_of_all(const std::vector<std::pair<TensorId, TensorId>>& gradients) {
    std::vector<TensorId> counted;
    for (const auto& [parameter, gradient] : gradients)
      if (parallel_.counted.contains(b_.program().tensor(parameter).name)) counted.push_back(gradient);
    const TensorId own = counted.empty()
                             ? b_.scalar("gradients:none", 0)
                             : b_.apply(OpKind::sum_squares, "gradients:squares", counted, {}, Phase::update)[0];
    return b_.apply(OpKind::all_reduce, "gradients:squares", {own},
                    CollectiveAttributes{parallel_.rank, parallel_.norm_ranks}, Phase::communicate)[0];
  }

  void count_steps() {
    steps_ = b_.persistent("optimizer:steps", {}, Role::optimizer_state, {});
    std::vector<TensorId> inputs{*steps_};
    if (factor_) inputs.push_back(*factor_);
    b_.apply(OpKind::count_step, "optimizer", inputs, {}, Phase::update);
  }

  std::vector<const char*> states() const {
    if (counts_steps(o_.kind)) return {":m", ":v"};
    if (o_.kind == OptimizerKind::adagrad) return {":sum"};
    return o_.momentum > 0 ? std::vector<const char*>{":momentum"} : std::vector<const char*>{};
  }

  OpKind kind() const {
    switch (o_.kind) {
      case OptimizerKind::sgd: return OpKind::sgd;
      case OptimizerKind::adagrad: return OpKind::adagrad;
      case OptimizerKind::lamb: return OpKind::lamb;
      case OptimizerKind::adam:
      case OptimizerKind::adamw: break;
    }
    return OpKind::adam;
  }

  Attributes attributes(bool decays) const {
    const double decay = decays ? o_.weight_decay : 0, l1 = decays ? o_.l1 : 0;
    const UpdateAttributes shared{decay, l1, factor_.has_value()};
    if (o_.kind == OptimizerKind::sgd) return SgdAttributes{o_.momentum, decay, l1, shared.scaled};
    if (o_.kind == OptimizerKind::adagrad) return AdagradAttributes{epsilon_of(o_), shared};
    return AdamAttributes{o_.beta1, o_.beta2, epsilon_of(o_), o_.kind == OptimizerKind::adamw, shared};
  }

  ProgramBuilder b_;
  const OptimizerOptions& o_;
  const ParallelUpdate& parallel_;
  TensorId rate_;
  std::map<TensorId, TensorId> like_;  // each state's parameter
  std::optional<TensorId> factor_, steps_;
};

}  // namespace

std::string_view to_string(OptimizerKind kind) { return std::ranges::find(kinds, kind, &KindName::kind)->name; }

OptimizerKind optimizer_kind(std::string_view word) {
  const auto it = std::ranges::find(kinds, word, &KindName::name);
  if (it == std::end(kinds))
    throw Error(Fault::usage, fmt::format("there is no optimizer '{}'", word), "--optimizer",
                "use sgd, adam, adamw, adagrad or lamb");
  return it->kind;
}

Program training_program(const Program& forward, const OptimizerOptions& options) {
  Differentiated d = differentiate(forward);
  return add_optimizer(std::move(d.program), d.gradients, options);
}

Program add_optimizer(Program differentiated, const std::vector<std::pair<TensorId, TensorId>>& gradients,
                      const OptimizerOptions& options, const ParallelUpdate& parallel) {
  check(options);
  std::map<std::string, size_t> handover_of;  // 0: none; else its number + 1
  for (size_t i = 0; i < parallel.handovers.size(); ++i)
    for (const std::string& name : parallel.handovers[i].parameters) handover_of[name] = i + 1;
  std::vector<std::vector<std::pair<TensorId, TensorId>>> together(parallel.handovers.size() + 1);
  for (const auto& pair : gradients) together[handover_of[differentiated.tensor(pair.first).name]].push_back(pair);
  Updates updates{std::move(differentiated), gradients, options, parallel};
  for (size_t i = 0; i < together.size(); ++i) {
    for (const auto& [parameter, gradient] : together[i]) updates.add(parameter, gradient);
    if (i > 0) updates.hand_over(parallel.handovers[i - 1], i - 1);
  }
  return updates.finish();
}

}  // namespace gpusizer
