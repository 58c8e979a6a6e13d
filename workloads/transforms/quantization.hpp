// SPDX-License-Identifier: Apache-2.0
// Post-training quantisation: the same inference with eight-bit integers, from weights and from ranges that were seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/program/program.hpp"
#include "workloads/transforms/tensor_values.hpp"

namespace gpusizer {

// Symmetric integers: a weight has one scale for each output channel (largest |w| / 127), a tensor of activations one,
// from the largest |x| over the calibration data (/ 127, or / 255 where nothing is negative, behind a ReLU). Sums are
// exact.
//
// In integers: convolutions without groups and fully connected layers, with the residual and the activation behind
// them, and max-pools and flattenings between them. In f32: what reads the program's inputs directly (its values are
// few, its range is the widest), attention, norms, losses, recurrent layers and everything else.

// The program that also keeps, as states "<tensor>:range" that start at 0, the largest |x| of every tensor that
// quantize() will make integers of. Run it over data that look like what will come. `program` has no gradients, and
// batch norms were folded.
Program observe_ranges(const Program& program);

// The quantised program. `values` has the program's weights and the observed ranges, and is given what the new program
// needs: "<weight>:i8", whole numbers, and "<layer>:bias" in units of the products.
// Backends lay the weights out for `layout_batch`, so that programs of several batches share them.
// Throws Error(usage) for missing values, input for ranges or weights that are not finite.
Program quantize(const Program& program, TensorValues& values, int64_t layout_batch);

// How many multiply-accumulates of a forward pass are on integers, as a share.
double integer_share(const Program& quantized);

}  // namespace gpusizer
