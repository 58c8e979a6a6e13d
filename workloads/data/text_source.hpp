// SPDX-License-Identifier: Apache-2.0
// Plain text as BERT's pre-training reads it: pairs of passages with masked tokens.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

// A text file or a folder of .txt files (text_corpus.hpp) in word pieces (wordpiece.hpp) of
// options.text.vocabulary_file or, without one, of a vocabulary made from the training part (8,192 pieces unless
// options.text.vocabulary says otherwise; nothing is written). Of every 20 documents one, chosen by a fixed rule, is
// the test split, the others are for training. Samples are pairs (text_pairs.hpp), filled up to the sequence length or,
// with buckets, of their natural length; the fields are pretraining_fields(). What is masked (masking.hpp) depends on
// (seed, epoch, index) when augmenting, else on (seed, index): every epoch of training masks anew, every evaluation is
// the same. baselines(): "unigram_entropy_nats" over the words that are not special. Throws Error: usage for lengths
// and sizes that cannot be, input for files that are missing or no text, a text too short to hold out a part of it, a
// vocabulary that does not know most of the text; failed when memory does not suffice.
std::unique_ptr<SampleSource> open_text(const std::string& path, const DataOptions& options);

bool looks_like_text(const std::filesystem::path& path);  // FILE.txt, or a folder with one

}  // namespace gpusizer
