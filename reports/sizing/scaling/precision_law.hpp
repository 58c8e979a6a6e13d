// SPDX-License-Identifier: Apache-2.0
// Another precision at many GPUs from that precision at one GPU and the scaling of the precision that was measured.
#pragma once

namespace gpusizer::scaling {

// X_p(N) = X_p(1) X_q(N) / X_q(1). Optimistic where computing shrinks and the gradients stay as they are: see below.
double composed_throughput(double target_at_one, double reference_at_one, double reference_at_many);

// The same in step times, with the communication of the measured precision kept in seconds: only what one GPU does is
// rescaled. t_p(N) = t_p(1) + (t_q(N) - t_q(1)). To be used where communication is more than a fifth of t_q(N).
double composed_seconds(double target_at_one, double reference_at_one, double reference_at_many);

}  // namespace gpusizer::scaling
