// SPDX-License-Identifier: Apache-2.0
// One document of each block is held out, so that the share is exact and every part of the text has its test.
#include "workloads/data/text_split.hpp"

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/data/sample_random.hpp"

namespace gpusizer {

Split split_of(int64_t document, int64_t documents) {
  const int64_t block_size = std::min(documents_for_one_held_out, documents);
  const int64_t block = document / block_size;
  const auto held_out =
      static_cast<int64_t>(mix_key(0x73706c6974, static_cast<uint64_t>(block)) % static_cast<uint64_t>(block_size));
  return document % block_size == held_out ? Split::test : Split::train;
}

void check_can_split(int64_t documents, const std::string& path) {
  if (documents >= 2) return;
  throw Error(Fault::input, "the text has one document, so that none can be held out", path,
              "part it into documents by blank lines");
}

}  // namespace gpusizer
