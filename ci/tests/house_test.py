#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the house checks: each planted fault is found at its line, and a tidy tree is left in peace."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HOUSE = pathlib.Path(__file__).resolve().parents[1] / "house"
sys.path.insert(0, str(HOUSE))

import arrows  # noqa: E402
import first_lines  # noqa: E402
import links  # noqa: E402
import owners  # noqa: E402
import places  # noqa: E402
import sizes  # noqa: E402
from tree import SourceFile, read_tree  # noqa: E402

HEAD = ("// SPDX-License-Identifier: Apache-2.0", "// What this file is for.")


def cpp(path, *lines):
    return SourceFile(path, HEAD + lines)


def found(check, *files):
    return [(finding.path, finding.line) for finding in check.check(list(files))]


class Arrows(unittest.TestCase):
    def assert_refused(self, path, include, line=3):
        self.assertEqual(found(arrows, cpp(path, f"#include {include}")), [(path, line)], include)

    def assert_allowed(self, path, include):
        self.assertEqual(found(arrows, cpp(path, f"#include {include}")), [], include)

    def test_rooms_that_must_not_know_others(self):
        for path, include in [
            ("workloads/program/a.cpp", '"reports/record/record.hpp"'),
            ("workloads/data/a.hpp", '"cloud/catalog/catalog.hpp"'),
            ("workloads/models/tests/a_test.cpp", '"bench/runner.hpp"'),
            ("cloud/catalog/a.cpp", '"workloads/program/program.hpp"'),
            ("cloud/catalog/a.cpp", '"reports/record/record.hpp"'),
            ("reports/record/a.cpp", '"workloads/program/program.hpp"'),
            ("reports/sizing/a.cpp", '"bench/runner.hpp"'),
            ("ci/history/a.cpp", '"workloads/program/program.hpp"'),
            ("gpusizer/version.hpp", '"cloud/catalog/catalog.hpp"'),
        ]:
            self.assert_refused(path, include)

    def test_rooms_that_may_know_others(self):
        for path, include in [
            ("bench/runner.cpp", '"workloads/program/program.hpp"'),
            ("bench/cli/advise.cpp", '"reports/sizing/advice.hpp"'),
            ("bench/cli/compare.cpp", '"ci/compare/compare.hpp"'),
            ("ci/compare/a.cpp", '"reports/record/record.hpp"'),
            ("reports/sizing/a.cpp", '"cloud/catalog/catalog.hpp"'),
            ("workloads/program/a.cpp", '"gpusizer/error.hpp"'),
            ("workloads/program/a.cpp", "<vector>"),
        ]:
            self.assert_allowed(path, include)

    def test_folders_that_must_not_know_others(self):
        for path, include in [
            ("workloads/program/a.cpp", '"workloads/models/cnn.hpp"'),
            ("workloads/models/a.cpp", '"workloads/data/source.hpp"'),
            ("workloads/data/a.cpp", '"workloads/program/program.hpp"'),
            ("workloads/lowering/a.cpp", '"workloads/backend/backend.hpp"'),
            ("workloads/backend/a.cpp", '"workloads/models/cnn.hpp"'),
            ("workloads/backend/cpu/a.cpp", '"workloads/backend/reference/loops.hpp"'),
            ("workloads/backend/cpu/kernels/a.cpp", '"workloads/backend/reference/loops.hpp"'),
            ("reports/record/a.cpp", '"reports/sizing/advice.hpp"'),
            ("reports/sizing/a.cpp", '"reports/render/terminal.hpp"'),
            ("workloads/newcomer/a.cpp", '"workloads/program/program.hpp"'),
            ("bench/runner.cpp", '"bench/cli/commands.hpp"'),
        ]:
            self.assert_refused(path, include)

    def test_folders_that_may_know_others(self):
        for path, include in [
            ("workloads/lowering/a.cpp", '"workloads/program/program.hpp"'),
            ("workloads/program/rules/a.cpp", '"workloads/program/program.hpp"'),
            ("workloads/backend/registry.cpp", '"workloads/backend/cpu/cpu_backend.hpp"'),
            ("workloads/backend/cpu/a.cpp", '"workloads/backend/backend.hpp"'),
            ("workloads/backend/cpu/kernels/a.cpp", '"workloads/backend/cpu/engine.hpp"'),
            ("workloads/lowering/tests/a_test.cpp", '"workloads/models/cnn.hpp"'),
            ("workloads/backend/tests/a_test.cpp", '"workloads/backend/reference/loops.hpp"'),
            ("reports/render/a.cpp", '"reports/sizing/advice.hpp"'),
            ("bench/cli/main.cpp", '"bench/cli/commands.hpp"'),
        ]:
            self.assert_allowed(path, include)

    def test_includes_are_written_from_the_root(self):
        self.assert_refused("cloud/catalog/a.cpp", '"catalog.hpp"')
        self.assert_refused("cloud/catalog/a.cpp", '"../catalog/catalog.hpp"')
        self.assert_refused("cloud/catalog/a.cpp", '"cloud/../bench/runner.hpp"')
        self.assert_refused("cloud/catalog/a.cpp", "<cloud/catalog/catalog.hpp>")

    def test_headers_in_a_circle(self):
        one = cpp("cloud/catalog/one.hpp", '#include "cloud/catalog/two.hpp"')
        two = cpp("cloud/catalog/two.hpp", "", '#include "cloud/catalog/three.hpp"')
        three = cpp("cloud/catalog/three.hpp", '#include "cloud/catalog/two.hpp"')
        self.assertEqual(found(arrows, one, two, three), [("cloud/catalog/two.hpp", 4)])
        self.assertEqual(found(arrows, one, two), [])

    def test_folders_in_a_circle(self):
        one = cpp("bench/runner/one.cpp", '#include "bench/stopping/stopping.hpp"')
        two = cpp("bench/stopping/two.cpp", '#include "bench/runner/runner.hpp"')
        self.assertEqual(found(arrows, one, two), [("bench/runner/one.cpp", 3)])
        self.assertEqual(found(arrows, one), [])


class Owners(unittest.TestCase):
    def test_headers_away_from_their_owner(self):
        for path, header in [
            ("workloads/backend/reference/a.cpp", "dnnl.hpp"),
            ("workloads/lowering/a.cpp", "oneapi/dnnl/dnnl.hpp"),
            ("bench/runner.cpp", "jpeglib.h"),
            ("reports/record/a.cpp", "zlib.h"),
            ("bench/runner.cpp", "boost/program_options.hpp"),
            ("bench/cli/main.cpp", "boost/filesystem.hpp"),
            ("workloads/program/a.cpp", "nlohmann/json.hpp"),
            ("cloud/catalog/a.cpp", "curl/curl.h"),
            ("reports/record/a.cpp", "sqlite3.h"),
            ("workloads/backend/cpu/a.cpp", "cuda_runtime.h"),
            ("workloads/backend/cpu/a.cpp", "mpi.h"),
            ("bench/runner.cpp", "nvml.h"),
            ("bench/runner.cpp", "benchmark/benchmark.h"),
            ("cloud/catalog/a.cpp", "gtest/gtest.h"),
        ]:
            self.assertEqual(found(owners, cpp(path, "", f"#include <{header}>")), [(path, 4)], header)

    def test_headers_at_their_owner(self):
        for path, header in [
            ("workloads/backend/cpu/a.cpp", "dnnl.hpp"),
            ("workloads/data/jpeg.cpp", "jpeglib.h"),
            ("workloads/data/tests/jpeg_test.cpp", "zlib.h"),
            ("bench/cli/main.cpp", "boost/program_options.hpp"),
            ("cloud/http.cpp", "curl/curl.h"),
            ("cloud/catalog/a.cpp", "nlohmann/json.hpp"),
            ("cloud/catalog/tests/a_test.cpp", "gtest/gtest.h"),
            ("workloads/program/a.cpp", "fmt/format.h"),
        ]:
            self.assertEqual(found(owners, cpp(path, f"#include <{header}>")), [], header)


class FirstLines(unittest.TestCase):
    def test_licence_and_purpose(self):
        licence = "# SPDX-License-Identifier: Apache-2.0"
        for path, lines, expected in [
            ("a.cpp", ("#pragma once",), [1]),
            ("a.cpp", HEAD[:1] + ("#pragma once",), [2]),
            ("a.cpp", HEAD[:1] + ("// Todo",), [2]),
            ("a.cpp", ("",) + HEAD, [1]),
            ("a.cpp", (licence, "# What this file is for."), [1]),
            ("a.cpp", HEAD, []),
            ("empty.hpp", (), [1]),
            ("CMakeLists.txt", (licence, "gpusizer_room(one)"), [2]),
            ("a.sh", ("#!/bin/sh", "set -e"), [2]),
            ("a.sh", ("#!/bin/sh", licence, "# Says what is for whom."), []),
            ("a.py", (licence, '"""Says what it does."""'), []),
            (".ci/run", ("#!/bin/sh", licence), [3]),
            ("README.md", ("# gpusizer",), []),
        ]:
            self.assertEqual(found(first_lines, SourceFile(path, lines)), [(path, line) for line in expected], lines)


class Sizes(unittest.TestCase):
    def test_long_files(self):
        self.assertEqual(found(sizes, cpp("cloud/a.cpp", *[""] * 398)), [])
        self.assertEqual(found(sizes, cpp("cloud/a.cpp", *[""] * 399)), [("cloud/a.cpp", 401)])
        self.assertEqual(found(sizes, cpp("bench/cli/main.cpp", *[""] * 58)), [])
        self.assertEqual(found(sizes, cpp("bench/cli/main.cpp", *[""] * 59)), [("bench/cli/main.cpp", 61)])

    def test_names_that_say_nothing(self):
        for path in ["cloud/utils.cpp", "cloud/helpers/a.cpp", "bench/common.hpp", "bench/string_utils.hpp"]:
            self.assertEqual(found(sizes, cpp(path)), [(path, 1)])
        self.assertEqual(found(sizes, cpp("workloads/transforms/common_factor.cpp")), [])

    def test_the_base_folder_stays_small(self):
        self.assertEqual(found(sizes, cpp("gpusizer/error.hpp"), cpp("gpusizer/version.hpp")), [])
        self.assertEqual(found(sizes, cpp("gpusizer/strings.hpp")), [("gpusizer/strings.hpp", 1)])

    def test_report_counts_lines(self):
        text = sizes.report([cpp("cloud/a.cpp", ""), cpp("cloud/b.cpp", "", "", ""), cpp("cloud/tests/c_test.cpp")])
        self.assertIn("product: 2 C++ files, 8 lines; median 4", text)
        self.assertIn("     5 cloud/b.cpp", text)


class Places(unittest.TestCase):
    def test_paths_and_hosts(self):
        # Put together here, so that this file does not hold what it looks for.
        for text in ["/ho" + "me/ann/data", "cd /ro" + "ot/x", '"/wo' + 'rk/main"', "https://py" + "pi.org/simple",
                     "deb http://deb.deb" + "ian.org/debian"]:
            self.assertEqual(found(places, SourceFile("notes.md", ("", text))), [("notes.md", 2)], text)

    def test_harmless_text(self):
        for text in ["/usr/share/datasets", "build/home/x", "the room's work/rest ratio", "https://www.debian.org"]:
            self.assertEqual(found(places, SourceFile("notes.md", (text,))), [], text)


class Links(unittest.TestCase):
    def test_links(self):
        page = SourceFile("cloud/README.md", ("[a](catalog/a.json) [b](../README.md#top) [c](https://example.org/x)",
                                              "[folder](catalog) [gone](catalog/b.json)"))
        other = SourceFile("cloud/catalog/a.json", ())
        self.assertEqual(found(links, page, other, SourceFile("README.md", ())), [("cloud/README.md", 2)])
        self.assertEqual(found(links, page, other), [("cloud/README.md", 1), ("cloud/README.md", 2)])


class WholeProgram(unittest.TestCase):
    def run_house(self, root):
        return subprocess.run([sys.executable, "-B", str(HOUSE / "house.py"), "--root", str(root)],
                              capture_output=True, text=True)

    def test_tidy_tree_then_planted_faults(self):
        with tempfile.TemporaryDirectory(prefix="house test ") as folder:
            root = pathlib.Path(folder)
            source = root / "cloud" / "catalog" / "catalog.cpp"
            source.parent.mkdir(parents=True)
            source.write_text("\n".join(HEAD) + "\n")
            tidy = self.run_house(root)
            self.assertEqual((tidy.returncode, tidy.stdout), (0, "house: 0 findings in 1 files\n"))

            source.write_text("\n".join(HEAD[:1] + ('#include "bench/runner.hpp"', "#include <zlib.h>")) + "\n")
            faulty = self.run_house(root)
            self.assertEqual(faulty.returncode, 1)
            for expected in ["catalog.cpp:2: cloud includes", "catalog.cpp:3: <zlib.h>", "catalog.cpp:2: no purpose"]:
                self.assertIn(expected, faulty.stdout)

    def test_what_git_ignores_is_not_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / ".gitignore").write_text("/scratch/\n")
            for path in ["scratch/a.cpp", "build/b.cpp", "cloud/c.cpp"]:
                (root / path).parent.mkdir()
                (root / path).write_text("int x;\n")
            subprocess.run(["git", "init", "-q", folder], check=True)
            self.assertEqual([file.path for file in read_tree(root)], ["cloud/c.cpp"])

    def test_empty_tree_and_unknown_check_are_usage_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_house(folder).returncode, 2)
        unknown = subprocess.run([sys.executable, "-B", str(HOUSE / "house.py"), "tidiness"], capture_output=True)
        self.assertEqual(unknown.returncode, 2)


if __name__ == "__main__":
    unittest.main()
