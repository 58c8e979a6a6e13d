#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inference from outside: what is measured, in which forms, with which weights, and what is refused.

    inference_test.py PATH_OF_GPUSIZER [unittest arguments]
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
VNNI = "vnni" in pathlib.Path("/proc/cpuinfo").read_text()  # without it the CPU backend refuses int8
CNN = ["--model", "resnet8", "--image-size", "8", "--classes", "3"]
BERT = ["--model", "bert-mini", "--layers", "1", "--hidden", "32", "--heads", "2", "--vocabulary", "99",
        "--sequence", "16", "--predictions", "3"]


def call(*arguments):
    process = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240)
    return process.returncode, process.stdout, process.stderr


class Inference(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "r.json"

    def infer(self, *arguments):
        code, _, err = call("run", "--mode", "infer", *arguments, "--out", str(self.out))
        self.assertEqual(code, 0, err)
        return json.loads(self.out.read_text())["cases"][0]

    def runs(self, case):
        return {run["name"]: run for run in case["inference"]["runs"]}

    def test_back_to_back_requests(self):
        case = self.infer(*CNN, "--batch", "2", "--requests", "120")
        self.assertEqual(case["status"], "ok")
        self.assertTrue(case["id"].startswith("resnet8/synthetic/b2/fp32/cpu/") and case["id"].endswith("/infer"), case["id"])
        run = self.runs(case)["fp32"]
        self.assertEqual((run["requests"], run["samples"], run["stop_reason"]), (120, 240, "requests_done"))
        self.assertTrue(0 < run["p50_seconds"] <= run["p90_seconds"] <= run["p99_seconds"] <= run["longest_seconds"])
        self.assertAlmostEqual(run["samples_per_second"], 240 / run["elapsed_seconds"], delta=1e-6 * 240 / run["elapsed_seconds"])
        self.assertIsNone(case["throughput"]["value"])
        self.assertEqual(case["config"]["inference"]["weights"], "random")
        self.assertIn("random_weights", [flag["id"] for flag in case["validity_flags"]])

    def test_too_few_requests_have_no_p99(self):
        run = self.runs(self.infer(*CNN, "--requests", "20"))["fp32"]
        self.assertIsNone(run["p99_seconds"])
        self.assertIn("at least 100 are needed", run["null_reasons"]["p99_seconds"])
        self.assertIsNotNone(run["p90_seconds"])

    def test_more_is_offered_than_can_be_served(self):
        case = self.infer(*CNN, "--rate", "1000000", "--requests", "60")
        run = self.runs(case)["fp32"]
        self.assertIn("overloaded", [flag["id"] for flag in case["validity_flags"]])
        self.assertGreater(run["longest_seconds"], 5 * run["elapsed_seconds"] / 60, "the last one waited for the others")
        self.assertEqual(case["config"]["inference"]["arrivals"], "poisson")

    @unittest.skipUnless(VNNI, "this processor has no VNNI")
    def test_integers_and_pruning_stand_beside_what_was_trained(self):
        case = self.infer(*CNN, "--synthetic-samples", "96", "--steps", "30", "--training-batch", "16", "--lr", "0.05",
                          "--eval", "on", "--precision", "int8", "--prune", "0.3", "--requests", "10")
        runs = self.runs(case)
        self.assertEqual(list(runs), ["fp32", "pruned", "pruned int8"])
        self.assertEqual(case["config"]["inference"]["weights"], "trained")
        self.assertEqual(len(case["training"]["loss_curve"]), 30)
        for run in runs.values():
            self.assertGreater(run["evaluated_samples"], 0)
            self.assertTrue(0 <= run["accuracy"] <= 1)
        self.assertAlmostEqual(runs["pruned"]["zero_share"], 0.3, delta=0.001)
        self.assertIsNone(runs["fp32"]["zero_share"])
        self.assertEqual(runs["pruned"]["weight_bytes"], runs["fp32"]["weight_bytes"], "zeros are stored too")
        self.assertLess(runs["pruned int8"]["weight_bytes"], runs["fp32"]["weight_bytes"])
        self.assertGreater(runs["pruned int8"]["integer_share"], 0.9)
        self.assertAlmostEqual(runs["pruned int8"]["loss"], runs["pruned"]["loss"], delta=0.05 * runs["pruned"]["loss"])

    @unittest.skipUnless(VNNI, "this processor has no VNNI")
    def test_text_in_integers(self):
        case = self.infer(*BERT, "--batch", "4", "--synthetic-samples", "64", "--eval", "on", "--precision", "int8",
                          "--requests", "10")
        runs = self.runs(case)
        self.assertEqual(list(runs), ["fp32", "int8"])
        self.assertAlmostEqual(runs["int8"]["loss"], runs["fp32"]["loss"], delta=0.05)
        self.assertIn("mlm_loss", runs["int8"]["outputs"])

    def test_weights_from_a_checkpoint(self):
        saved = self.folder / "saved"
        training = [*CNN, "--synthetic-samples", "64", "--batch", "16", "--steps", "20", "--eval", "on"]
        code, _, err = call("run", *training, "--checkpoint", str(saved), "--out", str(self.folder / "t.json"))
        self.assertEqual(code, 0, err)
        trained = json.loads((self.folder / "t.json").read_text())["cases"][0]["training"]
        weights = max(saved.glob("*.safetensors"), key=lambda path: int(path.stem.rsplit("-", 1)[1]))
        case = self.infer(*CNN, "--synthetic-samples", "64", "--weights", str(weights), "--eval", "on", "--requests", "5")
        self.assertAlmostEqual(self.runs(case)["fp32"]["loss"], trained["evaluations"][-1]["loss"], delta=1e-4)
        self.assertEqual(case["config"]["inference"]["weights"], "file")
        self.assertEqual(case["training"]["loss_curve"], [])

    def test_foreign_and_damaged_weights_are_refused(self):
        path = self.folder / "w.safetensors"
        header = json.dumps({"conv1.weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        for content, part in ((struct.pack("<Q", len(header)) + header + bytes(4), "conv1.weight"),
                              (b"not a file of weights", "w.safetensors")):
            path.write_bytes(content)
            code, _, err = call("run", "--mode", "infer", *CNN, "--weights", str(path), "--out", str(self.out))
            self.assertEqual(code, 3)
            self.assertIn(part, err)
            self.assertEqual(err.count("\n"), 1)
            self.assertFalse(self.out.exists())

    @unittest.skipUnless(VNNI, "this processor has no VNNI")
    def test_an_interrupted_case_keeps_what_was_served(self):
        process = subprocess.Popen([PROGRAM, "run", "--mode", "infer", *CNN, "--precision", "int8", "--max-seconds", "200",
                                    "--out", str(self.out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(4)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 143)
        case = json.loads(self.out.read_text())["cases"][0]
        self.assertEqual(case["status"], "interrupted")
        if case.get("inference"):
            for run in case["inference"]["runs"]:
                self.assertIn(run["stop_reason"], ("interrupted", "not_started"))

    def test_inference_is_no_training_throughput(self):
        self.infer(*CNN, "--requests", "10")
        code, out, err = call("advise", str(self.out), "--dataset-samples", "1000", "--epochs", "1", "--as", "c7i.xlarge")
        self.assertNotEqual(code, 0)
        self.assertIn("inference", out + err)
        code, out, _ = call("report", str(self.out))
        self.assertEqual(code, 0)
        self.assertIn("back to back", out)


if __name__ == "__main__":
    unittest.main()
