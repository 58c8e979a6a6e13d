# SPDX-License-Identifier: Apache-2.0
# Finds oneDNN; gives the target DNNL::dnnl. (Debian's own package file asks for OpenCL, which we do not need.)
find_path(ONEDNN_INCLUDE_DIR dnnl.hpp PATH_SUFFIXES oneapi/dnnl)
find_library(ONEDNN_LIBRARY dnnl)
if(NOT ONEDNN_INCLUDE_DIR OR NOT ONEDNN_LIBRARY)
  message(FATAL_ERROR "oneDNN was not found: install libdnnl-dev (Debian, Ubuntu) or run ci/setup.sh")
endif()
add_library(DNNL::dnnl UNKNOWN IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${ONEDNN_LIBRARY}
                                            INTERFACE_INCLUDE_DIRECTORIES ${ONEDNN_INCLUDE_DIR})
