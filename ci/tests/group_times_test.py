#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of ci/group_times.py on a small result file of ctest's."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import group_times  # noqa: E402

RESULTS = """<?xml version="1.0"?>
<testsuite name="(empty)" tests="5" failures="2" disabled="0" skipped="1">
  <testcase name="cloud.Catalog.reads" classname="x" time="0.25" status="run"/>
  <testcase name="cloud.Catalog.refuses" classname="x" time="0.5" status="fail"><failure message=""/></testcase>
  <testcase name="backend_cpu.Steps.same" classname="x" time="4" status="run"/>
  <testcase name="backend_cpu.Steps.huge" classname="x" time="0" status="notrun"><skipped message=""/></testcase>
  <testcase name="gpusizer_lowering_tests_NOT_BUILT" classname="x" time="0" status="fail"><failure message=""/></testcase>
</testsuite>
"""


class Tables(unittest.TestCase):
    def test_counts_by_group(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "ctest.xml"
            file.write_text(RESULTS)
            groups = group_times.tallies(file)
        self.assertEqual(groups["cloud"], group_times.Tally(tests=2, failed=1, skipped=0, seconds=0.75))
        self.assertEqual(groups["backend_cpu"], group_times.Tally(tests=2, failed=0, skipped=1, seconds=4))
        self.assertEqual(groups["lowering"], group_times.Tally(tests=1, failed=1))
        lines = group_times.table(groups, "release").splitlines()
        self.assertEqual(lines[0].split(), ["release", "tests", "failed", "skipped", "seconds"])
        self.assertEqual(lines[1].split(), ["backend_cpu", "2", "0", "1", "4.0"])

    def test_names(self):
        self.assertEqual(group_times.group_of("house.arrows"), "house")
        self.assertEqual(group_times.group_of("gpusizer_backend_cpu_tests_NOT_BUILT-b12d07c"), "backend_cpu")


if __name__ == "__main__":
    unittest.main()
