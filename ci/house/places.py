# SPDX-License-Identifier: Apache-2.0
"""Nothing in the project depends on one machine: no private paths, no hosts of package registries."""
import re

from tree import Finding

PRIVATE_PATH = re.compile(r"(?<![\w./-])/(?:home|root|work|Users)/[\w.]")
REGISTRY_HOST = re.compile(
    r"\b(?:(?:deb|security|ftp)\.debian\.org|(?:[a-z]+\.)?(?:archive|security|ports)\.ubuntu\.com|pypi\.org"
    r"|files\.pythonhosted\.org|registry\.npmjs\.org|crates\.io|proxy\.golang\.org|conda\.anaconda\.org"
    r"|(?:index\.|registry-1\.)?docker\.io|quay\.io|ghcr\.io|nvcr\.io|repo1?\.maven\.org)\b")


def check(files):
    findings = []
    for file in files:
        for number, line in enumerate(file.lines, 1):
            path = PRIVATE_PATH.search(line)
            if path:
                findings.append(Finding(file.path, number, f"a path of one machine: {path.group()}...",
                                        "take it from a flag, or make it relative to the repository"))
            host = REGISTRY_HOST.search(line)
            if host:
                findings.append(Finding(file.path, number, f"names the package registry {host.group()}",
                                        "name the package only and let the system's own client find it"))
    return findings
