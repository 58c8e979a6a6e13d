# SPDX-License-Identifier: Apache-2.0
# Script: writes OUT, a .cpp file that holds the text of FOLDER's gpus.json and instances.json.
file(READ "${FOLDER}/gpus.json" GPUS_JSON)
file(READ "${FOLDER}/instances.json" INSTANCES_JSON)
configure_file("${FOLDER}/embedded_catalog.cpp.in" "${OUT}" @ONLY)
