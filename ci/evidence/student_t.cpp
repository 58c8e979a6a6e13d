// SPDX-License-Identifier: Apache-2.0
// The upper tail of Student's t and its inverse, with errors for what cannot be.
#include "ci/evidence/student_t.hpp"

#include "gpusizer/error.hpp"
#include "reports/record/distributions.hpp"

namespace gpusizer::ci {

double student_t_above(double t, double df) {
  if (!(df > 0)) throw Error(Fault::failed, "Student's t needs at least one degree of freedom");
  return record::student_t_cdf(-t, df);
}

double student_t_limit(double share, double df) {
  if (!(share > 0) || !(share < 1)) throw Error(Fault::failed, "a limit of Student's t needs a share between 0 and 1");
  if (!(df > 0)) throw Error(Fault::failed, "Student's t needs at least one degree of freedom");
  return -record::student_t_quantile(share, df);
}

}  // namespace gpusizer::ci
