# SPDX-License-Identifier: Apache-2.0
"""One owner for each outside library: only the owner's files include its headers."""
import re

from tree import Finding

# Library, the headers that belong to it, the paths (as prefixes) that may include them.
OWNERS = [
    ("oneDNN", r"(oneapi/dnnl/)?(dnnl|mkldnn).*", ["workloads/backend/cpu/"]),
    ("OpenMP", r"omp\.h", ["workloads/backend/cpu/"]),
    ("CUDA and its libraries", r"(cu(da|blas|dnn|rand|fft|sparse|pti)|nccl|nvrtc|nvToolsExt|nvtx3/|cutlass/).*",
     ["workloads/backend/cuda/"]),
    ("MPI", r"mpi\.h", ["workloads/backend/communicator/"]),
    ("libjpeg", r"(jpeglib|jerror|turbojpeg)\.h", ["workloads/data/"]),
    ("zlib", r"zlib\.h", ["workloads/data/"]),
    ("JSON for Modern C++", r"nlohmann/.*", ["cloud/", "reports/", "bench/", "ci/", "workloads/checkpoint/"]),
    ("Boost.Program_options", r"boost/program_options.*", ["bench/cli/"]),
    ("Boost, other than Program_options,", r"boost/(?!program_options).*", []),
    ("NVML", r"nvml\.h", ["bench/telemetry/"]),
    ("Google Benchmark", r"benchmark/.*", ["bench/micro/"]),
    ("curl", r"curl/.*", ["cloud/http.cpp"]),
    ("SQLite", r"sqlite3?(ext)?\.h", ["ci/history"]),
]
TEST_LIBRARY = re.compile(r"(gtest|gmock)/.*")


def _check_include(file, line, target):
    if TEST_LIBRARY.fullmatch(target) and not file.is_test:
        return Finding(file.path, line, f"<{target}> outside a tests/ folder", "move this to a test of the same room")
    for library, headers, owners in OWNERS:
        if not re.fullmatch(headers, target) or any(file.path.startswith(owner) for owner in owners):
            continue
        where = " or ".join(owners) or "nowhere"
        return Finding(file.path, line, f"<{target}>: {library} belongs in {where}",
                       "go through what the owner offers, or change the table in ci/house/owners.py with a reason")
    return None


def check(files):
    findings = []
    for file in files:
        if file.is_cpp:
            found = (_check_include(file, line, target) for line, _, target in file.includes())
            findings += [finding for finding in found if finding]
    return findings
