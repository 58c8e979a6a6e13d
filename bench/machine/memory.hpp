// SPDX-License-Identifier: Apache-2.0
// How much memory there is, may be used, and was used at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpusizer {

// The value of a line like "MemAvailable:   123 kB" of /proc/meminfo, in bytes.
std::optional<std::int64_t> parse_meminfo(std::string_view text, std::string_view key);

// Bytes that the process may still take: what the machine has available, or less where a container's limit or the
// process's own address-space limit is lower. Nothing when the system does not say.
std::optional<std::int64_t> available_memory_bytes();

// Bytes of the machine, or of the container's limit if that is smaller.
std::optional<std::int64_t> total_memory_bytes();

// Gives freed memory back and makes the peak start anew at the present size. False: the system cannot do that, and the
// peak stays that since the start of the process.
bool restart_peak_resident();

// The largest resident size of this process since its start, or since the last restart of the peak. Nothing when the
// system does not say.
std::optional<std::int64_t> peak_resident_bytes();

}  // namespace gpusizer
