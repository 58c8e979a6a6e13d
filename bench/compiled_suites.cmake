# SPDX-License-Identifier: Apache-2.0
# Turns bench/suites/*.json into a C++ table: cmake -DOUT=file.cpp -DFOLDER=suites -P compiled_suites.cmake
file(GLOB files ${FOLDER}/*.json)
list(SORT files)
set(rows "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"suite(${text})suite\"},\n")
endforeach()
set(source "// Made from bench/suites at build time; do not edit.
#include \"bench/run_config/suite_file.hpp\"

namespace gpusizer {
namespace {
constexpr CompiledSuite kSuites[] = {
${rows}};
}  // namespace

std::span<const CompiledSuite> compiled_suites() { return kSuites; }
}  // namespace gpusizer
")
file(WRITE ${OUT}.new "${source}")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${OUT}.new ${OUT})
