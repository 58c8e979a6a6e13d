#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps and ranks from outside: cases and their ids, one report for all ranks, faults, other layouts, and what is refused.

    ranks_test.py PATH_OF_GPUSIZER [unittest arguments]
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
BERT = ["--model", "bert-mini", "--layers", "2", "--hidden", "32", "--heads", "2", "--vocabulary", "99", "--sequence", "16",
        "--predictions", "3", "--synthetic-samples", "512", "--threads", "1", "--optimizer", "sgd", "--dropout", "0"]
LAUNCHERS = ("RANK", "WORLD_SIZE", "MASTER_", "OMPI_", "PMI", "SLURM_", "TORCHELASTIC_")
ALONE = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}


def start(*arguments, **variables):
    return subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**ALONE, "OMP_WAIT_POLICY": "passive", **variables})


def finish(process):
    output, errors = process.communicate(timeout=240)
    return process.returncode, output, errors


def call(*arguments, **variables):
    return finish(start(*arguments, **variables))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def losses(case):
    return [point["loss"] for point in case["training"]["loss_curve"]]


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "r.json"

    def cases(self):
        return json.loads(self.out.read_text())["cases"]

    def run_cases(self, *arguments, code=0):
        result, _, errors = call("run", *BERT, *arguments, "--out", str(self.out))
        self.assertEqual(result, code, errors)
        return self.cases()

    def assert_same_losses(self, case, other):
        self.assertEqual(len(losses(case)), len(losses(other)))
        for one, two in zip(losses(case), losses(other)):
            self.assertAlmostEqual(one, two, delta=1e-4 * abs(two))

    def test_a_strong_sweep_is_one_report_with_speed_ups(self):
        cases = self.run_cases("--batch", "8", "--steps", "12", "--scaling", "strong", "--sweep", "devices=1,2")
        one, two = cases
        self.assertTrue(two["id"].startswith("bert-mini/synthetic/b4/fp32/cpu/dp2/"), two["id"])
        self.assert_same_losses(two, one)
        self.assertNotIn("parallel", one["config"])
        self.assertEqual((two["config"]["devices"], two["config"]["replicas"], two["config"]["batch_per_replica"]), (2, 2, 4))
        self.assertEqual(two["measurement"]["samples"], 8 * two["measurement"]["measured_steps"], "once per replica")
        self.assertEqual((two["scaling"]["kind"], two["scaling"]["baseline_case"]), ("strong", one["id"]))
        ratio = two["throughput"]["value"] / one["throughput"]["value"]
        if "speedup" in two["scaling"]:
            self.assertAlmostEqual(two["scaling"]["speedup"]["value"], ratio, places=9)
        else:  # a busy machine: an interval is unknown
            self.assertTrue(two["scaling"]["null_reason"])
        self.assertEqual(len(two["communication"]["rank_step_seconds"]), 2)
        code, text, errors = call("report", str(self.out))
        self.assertEqual(code, 0, errors)
        self.assertRegex(text, r"speed-up +efficiency +exposed +slowest")
        code, text, errors = call("report", str(self.out), "--json")
        self.assertEqual([case["id"] for case in json.loads(text)["cases"]], [one["id"], two["id"]], errors)

    def test_a_replica_counts_once_however_many_ranks_share_it(self):
        (case,) = self.run_cases("--batch", "4", "--accumulate", "2", "--steps", "8", "--parallel", "dp=2,pp=2")
        self.assertEqual(case["config"]["parallel"]["ranks"], 4)
        self.assertEqual(case["measurement"]["samples"], 8 * case["measurement"]["measured_steps"])

    def test_a_simulated_wire_is_never_advice(self):
        (case,) = self.run_cases("--batch", "4", "--steps", "8", "--devices", "2", "--wire", "latency=1ms,bandwidth=1Gb/s")
        self.assertEqual(case["throughput"]["provenance"], "emulated")
        self.assertIn(("simulated_wire", True), [(flag["id"], flag["blocks_advice"]) for flag in case["validity_flags"]])

    def test_after_a_fault_the_next_case_runs(self):
        failed, fine = self.run_cases("--batch", "4", "--steps", "8", "--devices", "2", "--comm-timeout", "20", "--sweep",
                                      "inject-fault=throw@1:5,none", code=4)
        self.assertEqual((failed["status"], fine["status"]), ("failed", "ok"))
        self.assertIn("rank 1", failed["reason"])
        self.assertIn("after step 4", failed["reason"], "the last one it finished")

    def test_a_fault_that_never_came_is_said(self):
        (case,) = self.run_cases("--batch", "4", "--steps", "8", "--devices", "2", "--inject-fault", "throw@1:9")
        self.assertIn("fault_not_rehearsed", [flag["id"] for flag in case["validity_flags"]])

    def test_samples_that_fill_no_step_of_micro_batches_are_counted(self):
        (case,) = self.run_cases("--batch", "100", "--epochs", "1", "--accumulate", "2")
        (flag,) = [flag for flag in case["validity_flags"] if flag["id"] == "samples_left_out"]
        self.assertIn("12 samples", flag["sentence"])

    def test_processes_that_meet_write_one_report(self):
        where = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port()}
        flags = ["run", *BERT, "--batch", "4", "--steps", "8", "--devices", "2", "--out", str(self.out)]
        ranks = [start(*flags, RANK=str(rank), **where) for rank in range(2)]
        ends = [finish(rank) for rank in ranks]
        self.assertEqual([end[0] for end in ends], [0, 0], ends)
        self.assertEqual(ends[1][1], "", "only one rank speaks")
        (case,) = self.cases()
        self.assertEqual(case["config"]["parallel"]["transport"], "tcp")
        processes = losses(case)
        (threads,) = self.run_cases("--batch", "4", "--steps", "8", "--devices", "2")
        self.assertEqual(processes, losses(threads), "bit for bit")

    def test_ranks_that_cannot_be_joined_are_an_error(self):
        code, _, errors = call("run", *BERT, "--out", str(self.out), RANK="0", WORLD_SIZE="4")
        self.assertEqual(code, 2, errors)
        self.assertFalse(self.out.exists())

    def test_another_layout_goes_on_with_the_checkpoints(self):
        job = ["--batch", "4", "--steps", "20", "--lr", "0.1", "--checkpoint", str(self.folder / "saved")]
        code, _, errors = call("run", *BERT, *job, "--checkpoint-every", "5", "--devices", "2", "--inject-fault", "exit@0:13",
                               "--out", str(self.out))
        self.assertNotEqual(code, 0, errors)
        code, _, errors = call("run", "--resume", str(self.out), "--parallel", "dp=4", "--inject-fault", "none")
        self.assertEqual(code, 0, errors)
        (resumed,) = self.cases()
        self.assertIn("/b2/fp32/cpu/dp4/", resumed["id"])
        self.assertEqual(resumed["checkpoints"]["resumed_at_step"], 10)
        code, output, errors = call("run", "--resume", str(self.out))
        self.assertIn("nothing to do", output, errors)
        (whole,) = self.run_cases("--batch", "8", "--steps", "20", "--lr", "0.1")
        self.assert_same_losses(resumed, whole)

    def test_impossible_layouts_are_refused_with_the_reason(self):
        for flags, reason in ((["--model", "resnet8", "--parallel", "tp=2"], "attention"),
                              (["--model", "bert-mini", "--parallel", "tp=3"], "heads"),
                              (["--model", "bert-mini", "--parallel", "pp=2", "--stages", "3,3"], "layers"),
                              (["--model", "bert-mini", "--parallel", "pp=99"], "--parallel"),
                              (["--model", "resnet8", "--sweep", "devicez=1,2"], "--sweep"),
                              (["--model", "resnet8", "--devices", "2", "--sweep", "devices=1,2"], "given and swept")):
            code, _, errors = call("run", *flags, "--steps", "4", "--out", str(self.out))
            self.assertEqual(code, 2, (flags, errors))
            self.assertIn(reason, errors)
            self.assertEqual(errors.count("\n"), 1, "one sentence")

    def test_help_shows_how(self):
        code, text, _ = call("help", "run")
        self.assertEqual(code, 0)
        for flag in ("--parallel", "--devices", "--sweep", "--scaling", "--stages", "--comm-timeout", "--wire", "mpirun -np 4"):
            self.assertIn(flag, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
