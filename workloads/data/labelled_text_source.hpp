// SPDX-License-Identifier: Apache-2.0
// Texts with a class each, for fine-tuning: tables of tab-separated values.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

// A .tsv file, whose first line names the columns: `text` and `label`, or `text_a`, `text_b` and `label`; others are
// ignored. Of every 20 rows one is the test split (text_split.hpp). Or a folder with train.tsv and dev.tsv or test.tsv,
// which is then the test split. There is no quoting: a tab always ends a column.
// The classes are the distinct labels of the training rows in the order of their names (numbers: of their values).
// Fields are classification_fields(); texts longer than the sequence are cut, the longer one of two first. The
// vocabulary is as open_text() takes it. Throws Error as open_text() does, and input, with the line, for a row with
// too few columns, without a text or with a label that training does not have.
std::unique_ptr<SampleSource> open_labelled_text(const std::string& path, const DataOptions& options);

bool looks_like_labelled_text(const std::filesystem::path& path);  // FILE.tsv, or a folder with train.tsv

}  // namespace gpusizer
