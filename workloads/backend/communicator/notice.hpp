// SPDX-License-Identifier: Apache-2.0
// What processes tell each other beside the messages of a run: signs of life, and that it is over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpusizer {

// Goes over the network as it lies in memory; ranks of one run are the same program on the same kind of machine.
struct Notice {
  enum class Kind : int32_t { sign = 1, abort, leaving } kind = Kind::sign;
  int32_t waits_for = -1;  // sign: the rank whose message the sender waits for
  int64_t step = 0;        // that the sender is in
  int32_t blamed = -1;     // abort: whose fault it is
  int32_t length = 0;      // abort: of the reason
  char reason[488] = {};

  void say(std::string_view text) {
    length = static_cast<int32_t>(std::min(text.size(), sizeof reason));
    std::copy_n(text.data(), length, reason);
  }
  std::string said() const { return {reason, reason + std::clamp<int32_t>(length, 0, sizeof reason)}; }
};
static_assert(sizeof(Notice) == 512);

}  // namespace gpusizer
