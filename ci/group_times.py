#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints tests and seconds of each test group: python3 ci/group_times.py build/PRESET/ctest.xml..."""
import pathlib
import re
import sys
import xml.etree.ElementTree as xml
from dataclasses import dataclass

NOT_BUILT = re.compile(r"gpusizer_(\w+?)_tests_NOT_BUILT(-\w+)?")


@dataclass
class Tally:
    """What happened to the tests of one group in one build."""

    tests: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0


def group_of(test_name):
    """A test is called "group.subject"; one whose program could not be built counts for its group."""
    not_built = NOT_BUILT.fullmatch(test_name)
    return not_built.group(1) if not_built else test_name.split(".")[0]


def tallies(junit_file):
    """Returns {group: Tally} of one file that ctest --output-junit wrote."""
    groups = {}
    for case in xml.parse(junit_file).getroot().iter("testcase"):
        tally = groups.setdefault(group_of(case.get("name")), Tally())
        tally.tests += 1
        tally.seconds += float(case.get("time") or 0)
        if case.find("skipped") is not None:
            tally.skipped += 1
        elif case.get("status") != "run":
            tally.failed += 1
    return groups


def table(groups, preset):
    lines = [f"{preset:<20} {'tests':>7} {'failed':>7} {'skipped':>7} {'seconds':>8}"]
    for name, tally in sorted(groups.items(), key=lambda item: -item[1].seconds):
        lines.append(f"  {name:<18} {tally.tests:>7} {tally.failed:>7} {tally.skipped:>7} {tally.seconds:>8.1f}")
    return "\n".join(lines)


def main(paths):
    for path in map(pathlib.Path, paths):
        try:
            print(table(tallies(path), path.parent.name))
        except (OSError, xml.ParseError) as error:
            print(f"{path.parent.name}: no results ({error})")


if __name__ == "__main__":
    main(sys.argv[1:])
