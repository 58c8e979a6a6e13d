// SPDX-License-Identifier: Apache-2.0
// The layers of models over sequences: embeddings, Transformer blocks, LSTM. Rows are samples x positions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/program/builder.hpp"

namespace gpusizer {

// Weight "<layer>.weight" normal with `deviation`, bias "<layer>.bias" 0: as BERT and most Transformers start.
TensorId dense(ProgramBuilder& b, const std::string& layer, TensorId x, int64_t features, double deviation = 0.02);
// A table "<layer>.weight" [rows, hidden], normal with `deviation`; row ids[i] for each id.
TensorId embedding(ProgramBuilder& b, const std::string& layer, TensorId ids, int64_t rows, int64_t hidden,
                   double deviation = 0.02);
// A table "<layer>.weight" [rows, hidden]: x [samples * sequence, hidden] plus the row of each position.
TensorId add_positions(ProgramBuilder& b, const std::string& layer, TensorId x, int64_t rows, int64_t sequence,
                       double deviation = 0.02);
// Parameters "<layer>.weight" (1) and "<layer>.bias" (0).
TensorId layer_norm(ProgramBuilder& b, const std::string& layer, TensorId x, double epsilon = 1e-12);
TensorId gelu(ProgramBuilder& b, const std::string& layer, TensorId x);
TensorId tanh(ProgramBuilder& b, const std::string& layer, TensorId x);
// Rows offset + i * stride of x.
TensorId every_row(ProgramBuilder& b, const std::string& layer, TensorId x, int64_t rows, int64_t stride, int64_t offset);

struct EncoderOptions {
  int64_t hidden = 0, heads = 1, feed_forward = 0, sequence = 1;
  double dropout = 0;                // of attention's probabilities and of both sublayers' results
  std::optional<TensorId> lengths;   // real tokens of each sequence
};
// One Transformer encoder block with layer norm after each sublayer (Vaswani et al., 2017; BERT). Queries, keys and values
// are one product: "<layer>.attention.self.qkv".
TensorId encoder_block(ProgramBuilder& b, const std::string& layer, TensorId x, const EncoderOptions& options);

// One LSTM layer over x [steps * batch, I], time outermost; parameters "<layer>.weight_ih", "weight_hh", "bias_ih" and
// "bias_hh", uniform in +-1/sqrt(hidden) as PyTorch's. -> [steps * batch, hidden]
TensorId lstm(ProgramBuilder& b, const std::string& layer, TensorId x, int64_t hidden, int64_t steps);

}  // namespace gpusizer
