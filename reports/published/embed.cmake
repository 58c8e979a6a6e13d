# SPDX-License-Identifier: Apache-2.0
# Script: writes OUT, a .cpp file that holds the text of measurements.json in pieces that compilers accept.
file(READ "${FOLDER}/measurements.json" text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)
  string(APPEND pieces "R\"published(${piece})published\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE "${OUT}" "// SPDX-License-Identifier: Apache-2.0
// The bytes of measurements.json; written by embed.cmake, not by hand.
#include \"reports/published/published.hpp\"

namespace gpusizer::published {

std::string_view embedded_measurements_json() {
  static constexpr char text[] =
${pieces};
  return std::string_view(text, sizeof text - 1);
}

}  // namespace gpusizer::published
")
