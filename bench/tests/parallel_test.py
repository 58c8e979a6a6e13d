#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks from outside: threads, processes joined by TCP and by mpirun, lost ranks, and going on in another layout.

    parallel_test.py PATH_OF_GPUSIZER [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
TINY = ["--model", "lstm", "--hidden", "8", "--window", "6", "--threads", "1", "--schedule", "constant"]
MPIRUN = shutil.which("mpirun")
QUIET = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def rank_environment(rank, size, port):
    return {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port)}


def state_of(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1][0]
    except OSError:
        return "gone"


class Parallel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "r.json"

    def case(self, index=0):
        return json.loads(self.out.read_text())["cases"][index]

    def losses(self, index=0):
        return [point["loss"] for point in self.case(index)["training"]["loss_curve"]]

    def words(self, *arguments):
        batch = [] if "--batch" in arguments else ["--batch", "4"]
        return [PROGRAM, "run", *TINY, *batch, *arguments, "--out", str(self.out), "--quiet"]

    def run_tiny(self, *arguments):
        done = subprocess.run(self.words(*arguments), timeout=120, **QUIET)
        return done.returncode, done.stderr.decode()

    def start_ranks(self, size, *arguments):
        port = free_port()
        processes = []
        for rank in range(size):
            processes.append(subprocess.Popen(self.words(*arguments), env=rank_environment(rank, size, port), **QUIET))
            self.addCleanup(self.end, processes[-1])
        return processes

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def await_steps(self, processes, steps):
        """Until a checkpoint of that step or a later one is there: only the last two are kept."""
        deadline = time.monotonic() + 60
        number = re.compile(r"-step-(\d+)\.safetensors$")

        def saved():
            names = [number.search(path.name) for path in self.folder.glob("saved/*-step-*.safetensors")]
            return [int(name[1]) for name in names if name]

        while max(saved(), default=0) < steps:
            self.assertLess(time.monotonic(), deadline, [p.poll() for p in processes])
            time.sleep(0.02)


class Threads(Parallel):
    def test_two_replicas_learn_what_one_rank_learns(self):
        self.assertEqual(self.run_tiny("--steps", "5", "--batch", "8")[0], 0)
        one = self.losses()
        self.assertEqual(self.run_tiny("--steps", "5", "--parallel", "dp=2")[0], 0)
        for got, expected in zip(self.losses(), one):
            self.assertAlmostEqual(got / expected, 1, delta=1e-4)
        self.assertEqual(self.case()["config"]["parallel"]["transport"], "threads")
        self.assertEqual(len(self.case()["communication"]["rank_step_seconds"]), 2)

    def test_asynchronous_steps_are_named_so_and_refused_where_they_cannot_be(self):
        self.assertEqual(self.run_tiny("--steps", "5", "--parallel", "dp=2", "--async-staleness", "2")[0], 0)
        case = self.case()
        self.assertIn("/async2", case["id"])
        self.assertEqual((case["config"]["parallel"]["mode"], case["config"]["parallel"]["staleness"]), ("async", 2))
        self.assertIn("asynchronous", [flag["id"] for flag in case["validity_flags"]])
        self.assertEqual(len(self.losses()), 5)
        for more, word in ((["pp=2"], "whole model"), (["dp=2,tp=2"], "whole model"), (["dp=1"], "dp=2"),
                           (["dp=2", "--shard-optimizer", "on"], "optimizer"), (["dp=2", "--local-sgd", "2"], "not both"),
                           (["dp=2", "--precision", "fp16"], "loss scale")):
            code, err = self.run_tiny("--steps", "5", "--async-staleness", "2", "--parallel", *more)
            self.assertEqual(code, 2, err)
            self.assertIn(word, err)

    def test_a_stuck_rank_fails_its_case_alone(self):
        suite = self.folder / "s.json"
        suite.write_text(json.dumps({"description": "x", "cases": [{"inject_fault": "stall@1:5"}, {}]}))
        began = time.monotonic()
        code, err = self.run_tiny("--suite", str(suite), "--parallel", "dp=2", "--steps", "6", "--comm-timeout", "2")
        self.assertEqual(code, 4, err)
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual([self.case(0)["status"], self.case(1)["status"]], ["failed", "ok"])
        self.assertIn("rank 1", self.case()["reason"])
        self.assertIn("4", self.case()["reason"])
        self.assertEqual(len(self.case()["measurement"]["step_seconds"]), 4)

    def test_layouts_that_a_model_cannot_have_are_refused(self):
        for layout, word in (("tp=2", "attention"), ("pp=9", "stage")):
            code, err = self.run_tiny("--steps", "5", "--parallel", layout)
            self.assertEqual(code, 2, err)
            self.assertIn(word, err)

    def test_an_interrupted_run_goes_on_in_another_layout(self):
        saved = ["--checkpoint", str(self.folder / "saved"), "--checkpoint-every", "5"]
        steps = ["--steps", "4000", "--max-steps", "4000"]
        process = subprocess.Popen(self.words(*steps, *saved, "--parallel", "dp=4"), **QUIET)
        self.addCleanup(self.end, process)
        self.await_steps([process], 10)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        done = len(self.case()["measurement"]["step_seconds"])
        self.assertEqual(self.case()["status"], "interrupted")
        again = subprocess.Popen([PROGRAM, "run", "--resume", str(self.out), "--parallel", "dp=2", "--quiet"], **QUIET)
        self.addCleanup(self.end, again)
        self.await_steps([again], done - done % 5 + 10)
        again.send_signal(signal.SIGINT)
        self.assertEqual(again.wait(60), 130)
        case = self.case()
        self.assertEqual((case["config"]["replicas"], case["config"]["batch_per_replica"]), (2, 8))
        self.assertEqual(case["checkpoints"]["resumed_at_step"], done)


class Processes(Parallel):
    def test_processes_have_the_bits_of_threads_and_write_one_report(self):
        self.assertEqual(self.run_tiny("--steps", "5", "--parallel", "dp=2")[0], 0)
        threads = self.losses()
        self.out.unlink()
        for process in self.start_ranks(2, "--steps", "5", "--parallel", "dp=2"):
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, (out, err))
        self.assertEqual(self.losses(), threads)
        self.assertEqual(self.case()["config"]["parallel"]["transport"], "tcp")

    def test_asynchronous_processes_have_the_bits_of_threads(self):
        steps = ["--steps", "8", "--parallel", "dp=3", "--async-staleness", "2"]
        self.assertEqual(self.run_tiny(*steps)[0], 0)
        threads = self.losses()
        self.assertEqual(len(threads), 8)
        self.out.unlink()
        for process in self.start_ranks(3, *steps):
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, (out, err))
        self.assertEqual(self.losses(), threads)

    def test_without_a_layout_every_process_is_a_replica(self):
        for process in self.start_ranks(2, "--steps", "5"):
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(self.case()["config"]["replicas"], 2)

    def test_a_layout_of_another_size_and_other_options_are_refused_everywhere(self):
        for process in self.start_ranks(2, "--steps", "5", "--parallel", "dp=3"):
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 2, err)
        port = free_port()
        processes = [subprocess.Popen(self.words("--steps", steps, "--parallel", "dp=2"),
                                      env=rank_environment(rank, 2, port), **QUIET)
                     for rank, steps in enumerate(("5", "6"))]
        for process in processes:
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 2, err)
            self.assertIn(b"--steps 6", err)
            self.assertIn(b"--steps 5", err)

    def test_a_signal_to_any_process_ends_all(self):
        saved = ["--checkpoint", str(self.folder / "saved"), "--checkpoint-every", "5"]
        processes = self.start_ranks(2, "--steps", "100000", "--parallel", "dp=2", *saved)
        self.await_steps(processes, 10)
        processes[1].send_signal(signal.SIGTERM)
        for process in processes:
            process.communicate(timeout=30)
        self.assertEqual(self.case()["status"], "interrupted")

    def lose(self, lost, how):
        saved = ["--checkpoint", str(self.folder / "saved"), "--checkpoint-every", "5"]
        processes = self.start_ranks(3, "--steps", "100000", "--parallel", "dp=3", "--comm-timeout", "2", *saved)
        self.await_steps(processes, 10)
        processes[lost].send_signal(how)
        began = time.monotonic()
        for rank, process in enumerate(processes):
            if rank != lost:
                process.communicate(timeout=30)
                self.assertEqual(process.returncode, 4)
        self.assertLess(time.monotonic() - began, 20)
        case = self.case()
        self.assertEqual(case["status"], "interrupted")
        self.assertIn(f"rank {lost}", case["reason"])
        # The checkpoint of step 10 is there before the other ranks have counted that step as finished.
        self.assertGreaterEqual(len(case["measurement"]["step_seconds"]), 9)

    def test_survivors_of_a_killed_rank_say_why(self):
        self.lose(2, signal.SIGKILL)

    def test_survivors_of_a_stopped_rank_say_why(self):
        self.lose(1, signal.SIGSTOP)

    def test_when_rank_0_is_lost_the_next_one_writes(self):
        self.lose(0, signal.SIGKILL)


@unittest.skipUnless(MPIRUN, "there is no mpirun")
class Mpi(Parallel):
    def mpirun(self, size, *arguments):
        words = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-np", str(size), *self.words(*arguments)]
        process = subprocess.Popen(words, start_new_session=True, **QUIET)
        self.addCleanup(self.end, process)
        return process

    def test_four_processes_write_one_report(self):
        process = self.mpirun(4, "--steps", "5", "--parallel", "dp=2,pp=2", "--accumulate", "2")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, (out, err))
        parallel = self.case()["config"]["parallel"]
        self.assertEqual((parallel["transport"], parallel["ranks"]), ("mpi", 4))
        self.assertEqual(out.count(b"report:"), 1)
        mpi = self.losses()
        self.assertEqual(self.run_tiny("--steps", "5", "--parallel", "dp=2,pp=2", "--accumulate", "2")[0], 0)
        self.assertEqual(mpi, self.losses())

    def test_asynchronous_processes_have_the_bits_of_threads(self):
        steps = ["--steps", "8", "--parallel", "dp=2", "--async-staleness", "2"]
        process = self.mpirun(2, *steps)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, (out, err))
        mpi = self.losses()
        self.assertEqual(self.run_tiny(*steps)[0], 0)
        self.assertEqual(mpi, self.losses())

    def test_a_killed_rank_leaves_a_valid_report_and_no_process(self):
        saved = ["--checkpoint", str(self.folder / "saved"), "--checkpoint-every", "5"]
        process = self.mpirun(2, "--steps", "100000", "--parallel", "dp=2", "--comm-timeout", "5", *saved)
        self.await_steps([process], 10)
        ranks = subprocess.run(["pgrep", "-P", str(process.pid)], **QUIET).stdout.split()
        os.kill(int(ranks[-1]), signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        case = self.case()
        self.assertEqual(case["status"], "interrupted")
        self.assertGreaterEqual(len(case["measurement"]["step_seconds"]), 10)
        for rank in ranks:
            self.assertIn(state_of(int(rank)), ("gone", "Z"))  # nobody may be there to bury it


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    unittest.main()
