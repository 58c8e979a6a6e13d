# SPDX-License-Identifier: Apache-2.0
"""Every source, script and CMake file says in its first line the licence and in its second what it is for."""
from tree import Finding

LICENCE = "SPDX-License-Identifier: Apache-2.0"
FEWEST_WORDS = 3


def _purpose_words(line):
    text = line.strip()
    for mark in ("//", "#", '"""', "'''"):
        if text.startswith(mark):
            return text[len(mark):].strip("\"' ").split()
    return []


def check(files):
    findings = []
    for file in files:
        if not (file.is_cpp or file.is_script or file.is_cmake or file.suffix == ".supp"):
            continue
        shift = 1 if file.lines and file.lines[0].startswith("#!") else 0
        first, second = (file.lines[shift:] + ("", ""))[:2]
        comment = "//" if file.is_cpp else "#"
        if first.strip() != f"{comment} {LICENCE}":
            findings.append(Finding(file.path, shift + 1, "no licence line", f"write '{comment} {LICENCE}' here"))
        elif len(_purpose_words(second)) < FEWEST_WORDS:
            findings.append(Finding(file.path, shift + 2, "no purpose line",
                                    f"write a comment of {FEWEST_WORDS} words or more: what the file is for"))
    return findings
