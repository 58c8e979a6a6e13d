// SPDX-License-Identifier: Apache-2.0
// Precision as a transform: which tensors of a program are 16 bits wide, and where values are cast.
#pragma once

#include <string_view>

#include "workloads/program/autodiff.hpp"
#include "workloads/program/program.hpp"

namespace gpusizer {

enum class Precision : uint8_t { fp32, tf32, fp16, bf16 };
std::string_view to_string(Precision precision);
// Throws Error(usage) for another word, naming the known ones.
Precision precision(std::string_view word);
// What activations are stored as (tf32: what operands of matrix products are rounded to); f32 for fp32. A target that
// lists it in emulated_dtypes shows the rounding, not the speed.
DType element_type(Precision precision);

// The same training step in another precision; apply it after autodiff (and after accumulate_gradients), before the
// optimizer. Tensor ids stay what they are, so the list of gradients does too.
//  fp16, bf16: each operation's row in precision_rules.hpp says what it reads and writes. Parameters stay f32 and get
//    one cast each ("fc.weight:f16") for the operations that read them in 16 bits; the optimizer sees the f32 ones. Sums
//    of a parameter's gradients are f32.
//  tf32: operands of matrix products (not biases) are cast to tf32; results are f32.
//  fp16 with gradients: the loss's gradient becomes the optimizer state "loss_scale", first_loss_scale at the start;
//    add_optimizer then takes the scale off again, skips steps whose gradients are not finite, and moves the scale.
// Throws Error(usage) for a program that has updates already.
Differentiated mixed_precision(Differentiated step, Precision precision);
// The same for a program without gradients: evaluation, inference. No loss scale.
Program mixed_precision(Program forward, Precision precision);

inline constexpr double first_loss_scale = 65536;

}  // namespace gpusizer
