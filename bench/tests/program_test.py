#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program from outside: exit codes, one-sentence errors, signals, full disks, and what stays in the report.

    program_test.py PATH_OF_GPUSIZER [unittest arguments]
"""
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist").is_dir()
TINY = ["--model", "resnet8", "--batch", "8", "--image-size", "8"]


def start(*arguments, **more):
    return subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def call(*arguments, **more):
    process = start(*arguments, **more)
    out, err = process.communicate(timeout=240)
    return process.returncode, out.decode(), err.decode()


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "r.json"

    def report(self):
        return json.loads(self.out.read_text())

    def run_tiny(self, *arguments, **more):
        return call("run", *TINY, *arguments, "--out", str(self.out), **more)

    def assert_refused(self, code, fragments, *arguments, **more):
        """One sentence on standard error, the right code, nothing on standard output, no report."""
        got, out, err = call(*arguments, **more)
        self.assertEqual(got, code, (arguments, err))
        self.assertEqual(out, "", arguments)
        self.assertTrue(err.startswith("gpusizer: ") and err.count("\n") == 1, (arguments, err))
        for fragment in fragments:
            self.assertIn(fragment, err, arguments)
        self.assertEqual(list(self.folder.glob("r.json*")), [], arguments)


class Words(Program):
    def test_help_and_version(self):
        for arguments in ([], ["--help"], ["help"], ["help", "run"], ["run", "--help"], ["list", "--help"],
                          ["advise", "--help"], ["report", "--help"], ["version", "--help"]):
            code, out, err = call(*arguments)
            self.assertEqual((code, err), (0, ""), arguments)
            self.assertIn("gpusizer", out)
        self.assertIn("Examples:", call("run", "--help")[1])
        version = json.loads(call("--version", "--json")[1])
        self.assertIn("version", version)
        self.assertIn("git_commit", version)

    def test_lists(self):
        for subject in ("models", "data", "devices", "suites", "instances"):
            code, out, _ = call("list", subject)
            self.assertEqual(code, 0)
            self.assertNotIn("\x1b", out)
            self.assertGreater(len(json.loads(call("list", subject, "--json")[1])), 0)
        self.assertEqual(set(json.loads(call("list", "--json")[1])), {"models", "data", "devices", "suites", "instances"})

    def test_exact_facts_of_the_reference_models(self):
        resnet50 = json.loads(call("list", "program", "resnet50", "--json")[1])
        self.assertEqual(resnet50["parameters"], 25_557_032)
        self.assertEqual(resnet50["forward_macs_per_sample"], 4_089_184_256)
        self.assertEqual(resnet50["flops_per_sample"], 24_299_077_632)
        self.assertEqual(json.loads(call("list", "program", "resnet18", "--json")[1])["parameters"], 11_689_512)
        planned = json.loads(call("list", "program", "resnet8", "--target", "cpu", "--json")[1])
        self.assertGreater(planned["target"]["peak_bytes"], planned["parameters"] * 4)

    def test_program_dump_is_stable(self):
        first = call("list", "program", "resnet8", "--batch", "2")
        self.assertEqual(first, call("list", "program", "resnet8", "--batch", "2"))
        self.assertIn("conv", first[1])

    def test_wrong_words(self):
        for fragments, arguments in [
            (["'rum'", "did you mean run"], ["rum"]),
            (["--bacth", "--batch"], ["run", "--bacth", "3"]),
            (["-x"], ["report", "-x"]),
            (["--batch"], ["run", "--model", "resnet8", "--batch"]),
            (["twice"], ["run", "--model", "resnet8", "--model", "resnet8"]),
            (["word"], ["run", "resnet8"]),
            (["devises", "devices"], ["list", "devises"]),
            (["--model"], ["run", "--modle", "resnet8"]),
            (["no report"], ["report"]),
            (["--target", "tpu"], ["list", "program", "resnet8", "--target", "tpu"]),
            (["--out", "empty"], ["report", "x.json", "--out", ""]),
            (["empty"], ["report", ""]),
            (["--price", "empty"], ["advise", "x.json", "--dataset-samples", "1", "--epochs", "1", "--price", ""]),
            (["--suite", "empty"], ["run", "--suite", ""]),
            (["--out", "empty"], ["run", *TINY, "--out", ""]),
            (["--data", "empty"], ["run", *TINY, "--data", ""]),
            (["format"], ["report", "--format", "pdf", "x.json"]),
        ]:
            self.assert_refused(2, fragments, *arguments)


class Refusals(Program):
    def test_requests_that_cannot_be(self):
        for fragments, arguments in [
            (["--model"], []),
            (["resnet51", "resnet50"], ["--model", "resnet51"]),
            (["--batch"], ["--model", "resnet8", "--batch", "0"]),
            (["--batch"], ["--model", "resnet8", "--batch", "many"]),
            (["--lr"], ["--model", "resnet8", "--lr", "nan"]),
            (["warm-up of 200", "100 steps"], ["--model", "resnet8", "--steps", "100", "--warmup", "200"]),
            (["first step", "--warmup"], ["--model", "resnet8", "--warmup", "0"]),
            (["nightly", "demo"], ["--suite", "nightly"]),
            (["tpu"], ["--model", "resnet8", "--device", "tpu"]),
            (["imaginary"], ["--model", "resnet8", "--data", "imaginary"]),
            (["threads"], ["--model", "resnet8", "--threads", "1000"]),
            (["c7i.tiny"], ["--model", "resnet8", "--max-steps", "2", "--as", "c7i.tiny"]),
        ]:
            self.assert_refused(2, fragments, "run", *arguments, "--out", str(self.out))

    def test_a_batch_larger_than_the_data(self):
        self.assert_refused(2, ["1000000", "1000 samples"], "run", "--model", "resnet8", "--batch", "1000000",
                            "--synthetic-samples", "1000", "--out", str(self.out))

    def test_a_batch_larger_than_the_memory(self):
        code, _, err = call("run", "--model", "resnet50", "--batch", "1000000", "--out", str(self.out))
        self.assertEqual(code, 4, err)
        case = self.report()["cases"][0]
        self.assertEqual(case["status"], "oom")
        self.assertIn("1000000", case["reason"])

    def test_a_broken_suite(self):
        suite = self.folder / "s.json"
        suite.write_text('{"cases": [{"model": "resnet8", "batches": 4}]}')
        self.assert_refused(2, ["/cases/0/batches"], "run", "--suite", str(suite), "--out", str(self.out))
        suite.write_text('{"cases": [')
        self.assert_refused(2, ["byte"], "run", "--suite", str(suite), "--out", str(self.out))
        suite.write_text('{"cases": [{"model": "resnet8", "lr": 1e999}]}')
        self.assert_refused(2, ["s.json", "too large"], "run", "--suite", str(suite), "--out", str(self.out))
        for path in (str(self.folder) + "/", "/dev/zero", str(self.folder / "no.json")):
            self.assert_refused(3, [path], "run", "--suite", path, "--out", str(self.out))

    def test_an_output_that_is_an_input(self):
        self.out.write_text("{}")
        link = self.folder / "link.json"
        link.symlink_to(self.out)
        for arguments in (["report", str(self.out)], ["run", "--suite", str(self.out)],
                          ["advise", str(self.out), "--dataset-samples", "1", "--epochs", "1"]):
            for out in (self.out, link):
                code, _, err = call(*arguments, "--out", str(out))
                self.assertEqual(code, 2, err)
                self.assertIn("--out", err)
        self.assertEqual(self.out.read_text(), "{}")

    def test_missing_data(self):
        code, out, err = call("run", "--model", "resnet8", "--data", "idx:/no/such/folder", "--out", str(self.out))
        self.assertIn(code, (3, 5), err)
        self.assertEqual((out, err.count("\n")), ("", 1), err)
        self.assertFalse(self.out.exists())

    def test_an_out_that_cannot_be_written(self):
        for out in (self.folder / "no" / "such" / "r.json", self.folder):
            began = time.monotonic()
            self.assert_refused(5, ["--out"], "run", *TINY, "--max-seconds", "60", "--out", str(out))
            self.assertLess(time.monotonic() - began, 30)

    def test_unreadable_reports(self):
        self.assert_refused(3, ["no.json"], "report", str(self.folder / "no.json"))
        broken = self.folder / "broken.json"
        broken.write_text('{"schema": "gpusizer.report/1"')
        self.assert_refused(3, ["broken.json"], "report", str(broken))
        self.assert_refused(3, ["broken.json"], "advise", str(broken), "--dataset-samples", "1", "--epochs", "1")
        # Before any flag that is missing.
        self.assert_refused(3, ["no.json"], "advise", str(self.folder / "no.json"))

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            process = subprocess.run([PROGRAM, "help"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.returncode, 5, process.stderr)


class Runs(Program):
    def test_the_whole_chain(self):
        code, out, err = call("run", "--suite", "smoke", "--out", str(self.out), "--as", "c7i.xlarge")
        self.assertEqual(code, 0, err)
        self.assertNotIn("\x1b", err + out)
        report = self.report()
        self.assertEqual(report["status"], "complete")
        self.assertEqual([case["status"] for case in report["cases"]], ["ok", "ok"])
        self.assertTrue(report["command_line"].startswith("gpusizer run --suite smoke"))
        for case in report["cases"]:
            self.assertGreater(case["throughput"]["value"], 0)
            planned, taken = case["memory"]["planned_peak_bytes"], case["memory"]["allocated_bytes"]
            self.assertLess(abs(planned - taken), 0.1 * taken)
        code, out, err = call("report", str(self.out))
        self.assertEqual((code, err), (0, ""))
        self.assertIn("resnet8", out)
        code, out, err = call("advise", str(self.out), "--epochs", "2")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--dataset-samples", err)
        code, out, err = call("advise", str(self.out), "--dataset-samples", "60000", "--epochs", "2")
        self.assertEqual(code, 0, err)
        self.assertIn("c7i.xlarge", out)

    def test_the_command_line_repeats_the_run(self):
        self.out = self.folder / "it's a report.json"
        code, _, err = self.run_tiny("--max-steps", "3")
        self.assertEqual(code, 0, err)
        self.assertEqual(shlex.split(self.report()["command_line"]),
                         ["gpusizer", "run", *TINY, "--max-steps", "3", "--out", str(self.out)])

    def test_unnamed_reports_do_not_replace_each_other(self):
        runs = [start("run", *TINY, "--max-steps", "2", cwd=self.folder, env=dict(os.environ, OMP_WAIT_POLICY="passive"))
                for _ in range(3)]
        for process in runs:
            _, err = process.communicate(timeout=240)
            self.assertEqual(process.returncode, 0, err)
        reports = list(self.folder.glob("gpusizer-*.json"))
        self.assertEqual(len(reports), 3)
        for path in reports:
            self.assertEqual(json.loads(path.read_text())["status"], "complete")
        self.assertEqual(call("run", *TINY, "--threads", "1000", cwd=self.folder)[0], 2)
        self.assertEqual(len(list(self.folder.iterdir())), 3)

    def test_the_peak_memory_is_the_case_s_own(self):
        suite = self.folder / "s.json"
        tiny = {"model": "resnet8", "batch": 8, "image_size": 8, "max_steps": 3}
        suite.write_text(json.dumps({"cases": [dict(tiny, batch=128, image_size=32), tiny]}))
        self.assertEqual(call("run", "--suite", str(suite), "--out", str(self.out))[0], 0)
        large, small = (case["memory"] for case in self.report()["cases"])
        self.assertGreaterEqual(large["peak_rss_bytes"], 0.9 * large["allocated_bytes"])
        if small["peak_rss_bytes"] is None:  # the system cannot forget a peak
            self.assertIn("earlier case", json.dumps(small))
        else:
            self.assertLess(small["peak_rss_bytes"], large["peak_rss_bytes"] - 0.5 * large["allocated_bytes"])

    def test_the_progress_and_the_report_name_the_same_half_width(self):
        code, out, err = self.run_tiny("--max-steps", "30")
        self.assertEqual(code, 0, err)
        t = self.report()["cases"][0]["throughput"]
        if t["high"] is None:  # a busy machine: the step times say nothing about how slow a step cannot be
            self.assertTrue(t["null_reason"])
            for text in (out, err):
                self.assertNotIn("±", text)
            return
        half = 100 * max(t["high"] - t["value"], t["value"] - t["low"]) / t["value"]
        if half > 50:  # then it is shown as low and high
            for text in (out, err):
                self.assertRegex(text, r"\([0-9.,]+ to [0-9.,]+\)")
            return
        for text in (out, err):
            printed = re.search(r"± ([0-9.]+) %", text)
            self.assertTrue(printed, text)
            self.assertAlmostEqual(float(printed[1]), half, delta=max(0.05, 0.01 * half))

    def test_the_same_seed_gives_the_same_losses(self):
        def losses(seed):
            code, _, err = self.run_tiny("--steps", "12", "--seed", seed)
            self.assertEqual(code, 0, err)
            return [point["loss"] for point in self.report()["cases"][0]["training"]["loss_curve"]]

        first = losses("3")
        self.assertEqual(len(first), 12)
        self.assertEqual(first, losses("3"))
        self.assertNotEqual(first, losses("4"))

    def test_evaluation_sees_every_sample_once(self):
        code, _, err = self.run_tiny("--synthetic-samples", "45", "--epochs", "2", "--eval", "on", "--classes", "3")
        self.assertEqual(code, 0, err)
        case = self.report()["cases"][0]
        self.assertEqual(len(case["measurement"]["step_seconds"]), 12)
        self.assertEqual([e["samples"] for e in case["training"]["evaluations"]], [45, 45])
        self.assertEqual(case["measurement"]["stop_reason"], "epochs_done")
        self.assertEqual(case["training"]["epochs"], 2)
        self.assertEqual([e["epochs"] for e in case["training"]["evaluations"]], [1, 2])
        self.assertNotIn("image", case["config"]["data_options"])
        self.assertNotIn("classes", case["config"]["data_options"])

    def test_epochs_are_what_was_executed_of_the_data(self):
        code, _, err = self.run_tiny("--synthetic-samples", "45", "--epochs", "2", "--tail", "drop")
        self.assertEqual(code, 0, err)
        self.assertAlmostEqual(self.report()["cases"][0]["training"]["epochs"], 80 / 45)
        self.assertEqual(self.run_tiny("--steps", "3")[0], 0)
        training = self.report()["cases"][0]["training"]
        self.assertIsNone(training["epochs"])
        self.assertIn("no end", json.dumps(training))

    def test_a_loss_that_is_not_finite_is_not_a_result(self):
        code, _, _ = self.run_tiny("--steps", "40", "--lr", "1e30", "--schedule", "constant")
        case = self.report()["cases"][0]
        self.assertEqual((code, case["status"]), (4, "invalid"))
        self.assertIsNone(case["throughput"]["value"])
        self.assertGreaterEqual(case["training"]["non_finite_step"], 1)

    def test_a_case_that_fails_does_not_stop_the_next(self):
        suite = self.folder / "s.json"
        tiny = {"model": "resnet8", "batch": 8, "image_size": 8, "max_steps": 4}
        suite.write_text(json.dumps({"cases": [dict(tiny, data="idx:/no/such/folder"), tiny]}))
        code, _, err = call("run", "--suite", str(suite), "--out", str(self.out))
        self.assertEqual(code, 4, err)
        cases = self.report()["cases"]
        self.assertEqual([case["status"] for case in cases], ["failed", "ok"])
        self.assertIn("/no/such/folder", cases[0]["reason"])

    @unittest.skipUnless(FASHION_MNIST, "the package dataset-fashion-mnist is not installed")
    def test_real_images(self):
        code, _, err = call("run", "--model", "resnet8", "--data", "fashion-mnist", "--batch", "16", "--max-steps", "8",
                            "--out", str(self.out))
        self.assertEqual(code, 0, err)
        self.assertEqual(self.report()["cases"][0]["config"]["dataset_samples"], 60000)
        self.assert_refused_batch()

    def assert_refused_batch(self):
        code, _, err = call("run", "--model", "resnet8", "--data", "fashion-mnist", "--batch", "1000000")
        self.assertEqual(code, 2, err)
        self.assertIn("60000", err)


class Interruptions(Program):
    def interrupt_second_case(self, number):
        suite = self.folder / "s.json"
        tiny = {"model": "resnet8", "batch": 8, "image_size": 8}
        suite.write_text(json.dumps({"cases": [dict(tiny, max_steps=4), dict(tiny, seed=2, steps=1_000_000),
                                               dict(tiny, seed=3, max_steps=4)]}))
        process = start("run", "--suite", str(suite), "--out", str(self.out))
        self.assertIn(b"[1/3]", process.stderr.readline())
        time.sleep(1)
        process.send_signal(number)
        process.communicate(timeout=60)
        return process.returncode

    def test_a_run_that_is_killed_leaves_no_older_report_in_its_place(self):
        self.assertEqual(self.run_tiny("--max-steps", "4")[0], 0)
        process = start("run", "--model", "resnet8", "--image-size", "8", "--batch", "8", "--steps", "1000000", "--out",
                        str(self.out))
        deadline = time.monotonic() + 60
        while self.report()["status"] == "complete" and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
        process.communicate(timeout=60)
        self.assertEqual(self.report()["status"], "partial")
        self.assertEqual([case["status"] for case in self.report()["cases"]], ["skipped"])

    def test_a_signal_in_the_second_case_keeps_the_first(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            self.assertEqual(self.interrupt_second_case(number), code)
            report = self.report()
            self.assertEqual(report["status"], "interrupted")
            self.assertEqual([case["status"] for case in report["cases"]], ["ok", "interrupted", "skipped"])
            self.assertEqual(call("report", str(self.out))[0], 0)

    def test_a_second_signal_of_either_kind_ends_the_program_at_once(self):
        # Where the first came before the run, or a step ended between the two, the end says nothing: then once more.
        for seconds in (2, 4, 8):
            process = start("run", "--model", "resnet50", "--batch", "32", "--steps", "100000", "--out", str(self.out))
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=120)
            if process.returncode == -signal.SIGTERM:
                break
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_a_full_disk_loses_nothing(self):
        self.out.write_text("the report of yesterday")
        code, out, err = self.run_tiny("--max-steps", "5", "--quiet",
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
        self.assertEqual(code, 5, err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertEqual(json.loads(out)["cases"][0]["status"], "ok")
        self.assertEqual(self.out.read_text(), "the report of yesterday")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["r.json"])


if __name__ == "__main__":
    os.environ.pop("OMP_WAIT_POLICY", None)
    unittest.main()
