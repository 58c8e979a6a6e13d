# SPDX-License-Identifier: Apache-2.0
# gpusizer_room(): one room of the house becomes one static library plus one test program.

add_library(gpusizer_options INTERFACE)
target_include_directories(gpusizer_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
# Not for nvcc, which has warnings of its own.
target_compile_options(gpusizer_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wno-missing-field-initializers>")
if(CMAKE_UNITY_BUILD)  # names local to one file are seen by its neighbours there
  target_compile_options(gpusizer_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>)
endif()
if(GPUSIZER_SANITIZE)
  target_compile_options(gpusizer_options INTERFACE -fsanitize=${GPUSIZER_SANITIZE} -fno-omit-frame-pointer
                                                    -fno-sanitize-recover=all)
  target_link_options(gpusizer_options INTERFACE -fsanitize=${GPUSIZER_SANITIZE})
endif()

# gpusizer_room(NAME [DEPENDS target...] [LIBRARIES target...])
#   Sources: every *.cpp of this folder and below that is not in a tests/ folder or in EXCLUDE.
#   Tests: every tests/*_test.cpp of the same folders, linked into NAME_tests.
#   UNITY_EXCEPT: folders whose files share local names on purpose (one shape for each operation family), so that they
#   are compiled one by one even in a unity build (-DCMAKE_UNITY_BUILD=ON: the program builds in 93 s instead of 223 s on two cores).
#   DEPENDS are rooms and are public; LIBRARIES are outside libraries and stay private.
function(gpusizer_room name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES;EXCLUDE;TEST_LIBRARIES;UNITY_EXCEPT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "/tests/")
  list(FILTER tests INCLUDE REGEX "/tests/[^/]*_test\\.cpp$")
  foreach(folder ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
    list(FILTER tests EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
  endforeach()
  set(alone ${sources} ${tests})
  foreach(folder ${ARG_UNITY_EXCEPT})
    set(files ${alone})
    list(FILTER files INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
    set_source_files_properties(${files} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  if(sources)
    add_library(gpusizer_${name} STATIC ${sources})
    target_link_libraries(gpusizer_${name} PUBLIC gpusizer_base ${ARG_DEPENDS} PRIVATE ${ARG_LIBRARIES})
  else()
    add_library(gpusizer_${name} INTERFACE)
    target_link_libraries(gpusizer_${name} INTERFACE gpusizer_base ${ARG_DEPENDS})
  endif()
  if(GPUSIZER_TESTS AND tests)
    add_executable(gpusizer_${name}_tests ${tests})
    target_link_libraries(gpusizer_${name}_tests PRIVATE gpusizer_${name} ${ARG_LIBRARIES} ${ARG_TEST_LIBRARIES}
                                                         GTest::gtest_main)
    gtest_discover_tests(gpusizer_${name}_tests TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} PROPERTIES TIMEOUT 300)
  endif()
endfunction()
