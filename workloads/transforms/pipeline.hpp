// SPDX-License-Identifier: Apache-2.0
// Pipeline parallelism: one training step becomes one program per stage, with messages between them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/program/autodiff.hpp"
#include "workloads/transforms/pipeline_plan.hpp"

namespace gpusizer {

// gpipe: all micro-batches forward, then all backward (Huang et al., "GPipe", 2019).
// one_forward_one_backward: a stage starts with as many micro-batches as there are stages behind it, then alternates,
// so that it keeps the activations of few (Narayanan et al., "PipeDream", 2019, without its weight versions). Both run
// the micro-batches forward in order and backward in order, so that gradients are summed in the same order.
enum class PipelineSchedule : uint8_t { gpipe, one_forward_one_backward };
std::string_view to_string(PipelineSchedule schedule);  // "gpipe", "1f1b"
// Throws Error(usage) for another word, naming the known ones.
PipelineSchedule pipeline_schedule(std::string_view word);

struct PipelineStage {
  // The stage's operations, the parameters and states that they use, and the gradients of those parameters. The loss,
  // `correct` and the outputs are the last stage's; in other stages they are index -1 and empty.
  Differentiated step;
  // Parameters that several stages have, with those stages, ascending (the same in every stage's list): each stage's
  // gradient is the sum of its own contributions, f32, and must be summed over the stages.
  std::map<std::string, std::vector<int32_t>> tied{};
};

// The stages of a step that accumulate_gradients() unrolled (or of a plain one: a single micro-batch), after
// mixed_precision. `ranks` says which world rank each stage is. An operation that the plan does not know goes where
// what it reads is made; backward operations go with their forward operations. What depends on no activation (casts of
// parameters, shares of the loss) is repeated on every stage that needs it; the state "loss_scale" is on all of them.
// Inputs are on every stage that reads them and are never sent.
// Throws Error(usage) where the plan's stages and the ranks differ in number, or a rank appears twice.
std::vector<PipelineStage> pipeline(const Differentiated& step, const PipelinePlan& plan,
                                    std::span<const int32_t> ranks, PipelineSchedule schedule);
// The same for a program without gradients: evaluation, inference.
std::vector<Program> pipeline(const Program& forward, const PipelinePlan& plan, std::span<const int32_t> ranks);

}  // namespace gpusizer
