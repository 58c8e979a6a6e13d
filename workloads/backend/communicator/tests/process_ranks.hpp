// SPDX-License-Identifier: Apache-2.0
// Runs one piece of code on several ranks, each in a process of its own, and hears how each of them ended.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace gpusizer::testing {

// What a rank says that was killed or stopped, or did not end in time.
inline constexpr const char* no_word = "(no word)";

// The body's result, or the sentence that it threw, of each rank. `beside` runs in the calling process meanwhile and
// gets the ranks' process ids. All are gone at the end, those that have not ended after `most_seconds` too.
std::vector<std::string> run_processes(int size, const std::function<std::string(int rank)>& body,
                                       const std::function<void(const std::vector<int>& ids)>& beside = {},
                                       double most_seconds = 60);

// A port that nobody listens at.
int free_port();

}  // namespace gpusizer::testing
