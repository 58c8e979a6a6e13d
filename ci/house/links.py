# SPDX-License-Identifier: Apache-2.0
"""Links in Markdown files to files of the project lead somewhere, so that the map stays true."""
import posixpath
import re

from tree import Finding

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
# Files that are linked to but are no text that the other checks read.
WITHOUT_SUFFIX = {"LICENSE", "NOTICE", ".clang-format", ".clang-tidy"}


def check(files):
    places = {file.path for file in files} | WITHOUT_SUFFIX
    for path in list(places):
        while "/" in path:
            path = path.rsplit("/", 1)[0]
            places.add(path)
    findings = []
    for file in files:
        if file.suffix != ".md":
            continue
        for number, line in enumerate(file.lines, 1):
            for target in LINK.findall(line):
                if ":" in target:
                    continue
                if posixpath.normpath(posixpath.join(file.folder, target)) not in places:
                    findings.append(Finding(file.path, number, f"the link to {target} leads nowhere",
                                            "correct it; it is relative to this file's folder"))
    return findings
