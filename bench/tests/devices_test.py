#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Devices from outside: what is listed, why one is not there, and that an emulated one is never taken for a real one.

    devices_test.py PATH_OF_GPUSIZER [unittest arguments]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
BERT = ["--model", "bert-mini", "--layers", "1", "--hidden", "32", "--heads", "2", "--vocabulary", "99", "--sequence", "16",
        "--predictions", "3", "--synthetic-samples", "64", "--batch", "4", "--steps", "3"]


def call(*arguments):
    process = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=240)
    return process.returncode, process.stdout, process.stderr


def listed():
    return json.loads(call("list", "devices", "--json")[1])


class Devices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "r.json"

    def test_a_missing_gpu_is_explained_and_the_cpu_is_there(self):
        devices = listed()
        self.assertIn("cpu", [device["device"] for device in devices])
        missing = [device for device in devices if device["backend"] == "cuda" and device["device"] is None]
        if not missing:
            self.skipTest("this machine has a GPU")
        self.assertTrue(missing[0]["reason"])
        code, out, err = call("run", *BERT, "--device", "cuda", "--out", str(self.out))
        self.assertEqual((code, out), (5, ""))
        self.assertIn(missing[0]["reason"], err)
        self.assertFalse(self.out.exists())

    def test_an_emulated_gpu_is_never_advice(self):
        if "cuda-emulated:0" not in [device["device"] for device in listed()]:
            self.skipTest("this build has no emulated GPU")
        code, _, err = call("run", *BERT, "--device", "cuda-emulated", "--out", str(self.out))
        self.assertEqual(code, 0, err)
        (case,) = json.loads(self.out.read_text())["cases"]
        self.assertEqual(case["throughput"]["provenance"], "emulated")
        self.assertIn(("emulated_device", True), [(flag["id"], flag["blocks_advice"]) for flag in case["validity_flags"]])
        code, out, _ = call("advise", str(self.out), "--dataset-samples", "100", "--epochs", "1", "--as", "c7i.xlarge")
        self.assertEqual(code, 4)
        self.assertIn("is emulated", out)


if __name__ == "__main__":
    unittest.main()
