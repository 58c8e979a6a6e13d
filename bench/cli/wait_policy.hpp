// SPDX-License-Identifier: Apache-2.0
// How idle compute threads wait: the OpenMP library reads its environment when it is loaded, before main().
#pragma once

#include <optional>
#include <string>

namespace gpusizer::cli {

// Waiting threads that spin are ready at once, and hold up everything when a neighbour wants their core. On a busy
// machine ("passive") they must sleep. `others_share`: part of the machine's processor time that others use.
// Empty: leave the library's own choice, which spins for a moment and then sleeps.
std::string wait_policy_for(std::optional<double> others_share);

// Looks at the machine for a moment and, where the policy should be another one, runs the program anew with
// OMP_WAIT_POLICY set. Does nothing when the variable is set already, by a person or by this. The report's environment
// shows the variable.
void choose_wait_policy();

}  // namespace gpusizer::cli
