# SPDX-License-Identifier: Apache-2.0
# gpusizer_headers: one translation unit for each header that includes nothing else, so that each compiles alone.
set(rooms bench ci cloud gpusizer reports workloads)
list(TRANSFORM rooms PREPEND ${PROJECT_SOURCE_DIR}/)
list(TRANSFORM rooms APPEND /*.hpp)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${rooms})
list(FILTER headers EXCLUDE REGEX "^workloads/backend/cuda/")  # need a toolkit

set(units)
foreach(header ${headers})
  string(MAKE_C_IDENTIFIER ${header} unit)
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${unit}.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n#include \"${header}\"  // and twice\n" @ONLY)
  list(APPEND units ${unit})
endforeach()

# Not part of `all`: the test house.headers_compile_alone builds it, so that a bad header is a named failing test.
add_library(gpusizer_headers OBJECT EXCLUDE_FROM_ALL ${units})
target_compile_options(gpusizer_headers PRIVATE -O0)
target_link_libraries(gpusizer_headers PRIVATE gpusizer_base DNNL::dnnl OpenMP::OpenMP_CXX JPEG::JPEG ZLIB::ZLIB SQLite::SQLite3
                                               nlohmann_json::nlohmann_json Boost::program_options GTest::gtest)
