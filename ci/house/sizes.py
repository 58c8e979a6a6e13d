# SPDX-License-Identifier: Apache-2.0
"""Small files with telling names: length limits, names that say nothing, and a report of the sizes."""
import re
import statistics

from tree import Finding

LONGEST_FILE = 400
LONGEST_MAIN = 60
SAYS_NOTHING = {"util", "utils", "utilities", "common", "helper", "helpers", "misc", "stuff"}
BASE_FOLDER_MAY_HOLD = re.compile(r"gpusizer/(error\.hpp|version[a-z_]*\.(hpp|cpp|hpp\.in|cpp\.in)|CMakeLists\.txt|tests/.*)")


def _name_findings(file):
    for part in file.path.split("/"):
        stem = part.split(".")[0].lower()
        if stem in SAYS_NOTHING or re.split(r"[_-]", stem)[-1] in SAYS_NOTHING:
            yield Finding(file.path, 1, f"the name '{part}' says nothing", "name it after the one thing it does")
    if file.path.startswith("gpusizer/") and not BASE_FOLDER_MAY_HOLD.fullmatch(file.path):
        yield Finding(file.path, 1, "gpusizer/ holds only the error type and the version", "move this to a room")


def _length_findings(file):
    limit = LONGEST_MAIN if file.path == "bench/cli/main.cpp" else LONGEST_FILE
    if (file.is_cpp or file.is_script or file.is_cmake) and len(file.lines) > limit:
        yield Finding(file.path, limit + 1, f"{len(file.lines)} lines, the limit is {limit}",
                      "split it by idea, one file for each")


def check(files):
    return [finding for file in files for part in (_name_findings, _length_findings) for finding in part(file)]


def report(files, longest=10):
    """Returns the sizes of the C++ files as text: median, 90th percentile, and the longest."""
    lines = []
    cpp = [file for file in files if file.is_cpp]
    for title, chosen in (("product", [f for f in cpp if not f.is_test]), ("tests", [f for f in cpp if f.is_test])):
        lengths = sorted(len(file.lines) for file in chosen)
        if lengths:
            ninetieth = lengths[min(len(lengths) - 1, int(0.9 * len(lengths)))]
            lines.append(f"{title}: {len(lengths)} C++ files, {sum(lengths)} lines; median "
                         f"{statistics.median(lengths):.0f}, 90 % are under {ninetieth + 1}, longest {lengths[-1]}")
    for file in sorted(cpp, key=lambda file: (-len(file.lines), file.path))[:longest]:
        lines.append(f"{len(file.lines):6} {file.path}")
    return "\n".join(lines)
