#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the order of the house: python3 ci/house/house.py [--root DIR] [CHECK...]; `report` prints file sizes."""
import argparse
import pathlib
import sys

import arrows
import first_lines
import links
import owners
import places
import sizes
from tree import read_tree

# A check is added by one module with check(files) -> list of findings, and one line here.
CHECKS = {
    "arrows": arrows.check,
    "owners": owners.check,
    "first_lines": first_lines.check,
    "sizes": sizes.check,
    "places": places.check,
    "links": links.check,
}


def main():
    parser = argparse.ArgumentParser(description="Checks the order of the house. Exit code 1: something was found.")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2], type=pathlib.Path)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"{', '.join(CHECKS)} (default: all); or report")
    chosen = parser.parse_args()
    unknown = set(chosen.checks) - set(CHECKS) - {"report"}
    if unknown:
        parser.error(f"no check is called {', '.join(sorted(unknown))}")
    files = read_tree(chosen.root)
    if not files:
        parser.error(f"no source files below {chosen.root}")
    if "report" in chosen.checks:
        print(sizes.report(files))
    findings = []
    for name in chosen.checks or CHECKS:
        findings += CHECKS[name](files) if name in CHECKS else []
    for finding in findings:
        print(finding)
    if chosen.checks != ["report"]:
        print(f"house: {len(findings)} findings in {len(files)} files")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
