# SPDX-License-Identifier: Apache-2.0
# Writes the version header, with the git commit as it is at build time (empty outside of a repository):
#   cmake -DOUT=file.hpp -DSOURCE=folder -DVERSION=1.2.3 -DBUILD_TYPE=Release -DCOMPILER="GNU 12.2.0" -P git_version.cmake
set(commit "")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --abbrev=12 --dirty --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(commit "")
  endif()
endif()
set(text "// Made at build time; do not edit.
#pragma once
namespace gpusizer::build {
inline constexpr const char* version = \"${VERSION}\";
inline constexpr const char* git_commit = \"${commit}\";
inline constexpr const char* build_type = \"${BUILD_TYPE}\";
inline constexpr const char* compiler = \"${COMPILER}\";
}  // namespace gpusizer::build
")
# Only a changed header is touched, so that a build of an unchanged tree has nothing to do.
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
