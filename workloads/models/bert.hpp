// SPDX-License-Identifier: Apache-2.0
// The BERT family (Devlin et al., 2019): an encoder over tokens with pre-training heads or a classification head.
#pragma once

#include "workloads/models/models.hpp"

namespace gpusizer::bert {

// Any size, by the options. Inputs: "input_ids", "token_types" i32 [batch, sequence], "lengths" i32 [batch]; for
// pre-training "mlm_positions", "mlm_labels" i32 [batch, predictions], "nsp_labels" i32 [batch]; for classification
// "labels" i32 [batch], and correct is set.
Program build(const ModelEntry& entry, const ModelOptions& options, int64_t batch, Mode mode);

}  // namespace gpusizer::bert
