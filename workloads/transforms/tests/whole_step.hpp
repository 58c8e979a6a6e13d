// SPDX-License-Identifier: Apache-2.0
// Steps of small models for the tests of layouts: made-up inputs, and the stages of a pipeline joined into one program.
#pragma once

#include <string>
#include <vector>

#include "workloads/backend/backend.hpp"
#include "workloads/models/models.hpp"
#include "workloads/transforms/pipeline.hpp"

namespace gpusizer {

// Small models whose steps take no time: "bert-mini", "temporal", "lstm", "resnet8", each with `layers` where it has
// them.
Program small_model(const std::string& name, int64_t layers, int64_t batch, Mode mode = Mode::train);

// The stages as one rank would run them: a message's contents are read where they were made, and gradients of tied
// parameters are added up. Tensors of stage i that do not persist are named "s<i>/<name>". Throws where a stage waits
// for ever.
Differentiated joined(const std::vector<PipelineStage>& stages, const std::vector<int32_t>& ranks);

// Runs a training program, or one rank's part of it, on the reference backend.
class WholeRun {
 public:
  explicit WholeRun(const Program& training, Communicator* communicator = nullptr);
  StepResult step(int number);
  std::vector<float> read(const std::string& tensor) const;
  const Program& program() const { return executor_->program(0).program; }
  std::vector<std::string> parameters() const;

 private:
  std::unique_ptr<Executor> executor_;
};

}  // namespace gpusizer
