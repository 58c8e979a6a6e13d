// SPDX-License-Identifier: Apache-2.0
// How long computation should stand still for communication, from the times of the operations and the speed of the
// channel: what the measured waiting is compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "workloads/program/program.hpp"

namespace gpusizer {

// Seconds of one collective of so many bytes on a channel of its own.
using CollectiveSeconds = std::function<double(std::int64_t bytes)>;

// Walks one rank's program: computation in order, collectives one after the other on their channel, each as soon as what
// it reads is made: e_k = max(e_(k-1), ready_k) + seconds of its bytes. Computation waits where it reads a result.
// `seconds`: of each operation; those of communication are not looked at. Nothing where the program has messages between
// stages, whose other end is in another program.
std::optional<double> modelled_exposed_seconds(const Program& program, std::span<const double> seconds,
                                               const CollectiveSeconds& collective);

}  // namespace gpusizer
