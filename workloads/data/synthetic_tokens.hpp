// SPDX-License-Identifier: Apache-2.0
// Made-up text for timing: token ids of any vocabulary and length, without a file.
#pragma once

#include <memory>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

// The fields of text_shape.hpp: those of pre-training, or those of classification when options.text.head says so (2
// classes, or options.classes; the class is in the text). Token frequencies fall as 1 / (rank + 10), like those of
// words (Mandelbrot's form of Zipf's law); each token depends on the one before it in half of the cases, so that
// there is something to learn. Without buckets every sample is full; with buckets lengths are spread over all of them.
// Defaults: 128 tokens, a vocabulary of 30,522 (BERT's), 1,000,000 samples for training and 50,000 for testing.
// baselines() of pre-training: "unigram_entropy_nats", of the distribution itself.
// Throws Error(usage) for sizes that cannot be.
std::unique_ptr<SampleSource> open_synthetic_tokens(const DataOptions& options);

}  // namespace gpusizer
