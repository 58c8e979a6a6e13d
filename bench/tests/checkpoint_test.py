#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints from outside: interrupted and killed runs reach the same losses, damaged and foreign files are refused.

    checkpoint_test.py PATH_OF_GPUSIZER [unittest arguments]
"""
import json
import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
TINY = ["--model", "resnet8", "--batch", "8", "--image-size", "8", "--classes", "3", "--synthetic-samples", "45"]
# 6 steps in an epoch, the last one smaller; evaluations between; a schedule that must not begin anew.
STEPS = 900
CASE = [*TINY, "--steps", str(STEPS), "--eval", "on", "--lr", "0.01"]


def call(*arguments, **more):
    process = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=240, **more)
    return process.returncode, process.stdout, process.stderr


def start(*arguments):
    return subprocess.Popen([PROGRAM, "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def read_safetensors(path):
    """The format as it is documented, read without any library: (words, {name: (type, shape, bytes)})."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    body = data[8 + length:]
    words = header.pop("__metadata__", {})
    size = {"F64": 8, "F32": 4, "I64": 8, "I32": 4}
    tensors, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        count = 1
        for dimension in entry["shape"]:
            count *= dimension
        assert begin == end and stop - begin == count * size[entry["dtype"]], name
        assert (8 + length + begin) % size[entry["dtype"]] == 0, name + " is not aligned"
        tensors[name] = entry["dtype"], entry["shape"], body[begin:stop]
        end = stop
    assert end == len(body)
    return words, tensors


class Checkpoints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """What an undisturbed run learns."""
        cls.keep = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.keep.cleanup)
        folder = pathlib.Path(cls.keep.name)
        code, _, err = call("run", *CASE, "--checkpoint", str(folder / "saved"), "--out", str(folder / "whole.json"))
        assert code == 0, err
        cls.whole = json.loads((folder / "whole.json").read_text())["cases"][0]
        (cls.whole_end,) = (folder / "saved").glob(f"*-step-{STEPS}.safetensors")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "it's r.json"
        self.saved = self.folder / "saved"

    def report(self):
        return json.loads(self.out.read_text())

    def files(self):
        """Of the folder of checkpoints, the newest first."""
        steps = {int(path.stem.rsplit("-", 1)[1]): path for path in self.saved.glob("*.safetensors")}
        return [steps[step] for step in sorted(steps, reverse=True)]

    def interrupt(self, number, every="50", files=1, arguments=None):
        """Starts a run, waits until there are so many checkpoints, and sends the signal."""
        arguments = arguments or [*CASE, "--checkpoint", str(self.saved)]
        process = start(*arguments, "--checkpoint-every", every, "--out", str(self.out))
        give_up = time.monotonic() + 120
        while len(self.files()) < files and process.poll() is None and time.monotonic() < give_up:
            time.sleep(0.005)
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
        self.assertIn(process.returncode, (-number, 128 + number), err)
        return out.decode()

    def resume(self, code=0, *arguments):
        got, out, err = call("run", "--resume", str(self.out), *arguments)
        self.assertEqual(got, code, err)
        return out + err

    def assert_same_as_undisturbed(self, case):
        self.assertEqual(case["status"], "ok", case["reason"])
        self.assertEqual(case["training"]["loss_curve"], self.whole["training"]["loss_curve"])
        for key in ("epochs", "accuracy", "loss", "samples"):
            self.assertEqual([e[key] for e in case["training"]["evaluations"]],
                             [e[key] for e in self.whole["training"]["evaluations"]], key)
        self.assertEqual(len(case["measurement"]["step_seconds"]), STEPS)
        _, tensors = read_safetensors(self.files()[0])
        _, expected = read_safetensors(self.whole_end)
        names = {name for name in expected if not name.startswith("run/")}
        self.assertEqual({name for name in tensors if not name.startswith("run/")}, names)
        for name in names:
            self.assertEqual(tensors[name], expected[name], name)

    def flags(self, case):
        return {flag["id"]: flag for flag in case["validity_flags"]}

    def test_an_undisturbed_run_says_what_it_saved(self):
        saved = self.whole["checkpoints"]
        self.assertEqual(saved["count"], STEPS // 6)  # without a number: one in each epoch
        self.assertEqual(saved["bytes"], self.whole_end.stat().st_size)
        self.assertGreater(saved["mean_seconds"], 0)
        self.assertGreater(saved["last_seconds"], 0)
        self.assertIsNone(saved["resumed_at_step"])
        self.assertNotIn("resumed", self.flags(self.whole))
        self.assertEqual(len(list(self.whole_end.parent.iterdir())), 2)  # the last two, nothing else

    def test_the_file_is_what_it_says(self):
        words, tensors = read_safetensors(self.whole_end)
        self.assertEqual(words["case"], self.whole["id"])
        self.assertEqual((words["step"], words["epoch"], words["epoch_step"]), (str(STEPS), str(STEPS // 6), "0"))
        self.assertEqual(words["config.model"], "resnet8")
        parameters = [shape for name, (_, shape, _) in tensors.items() if name + ":momentum" in tensors]
        count = 0
        for shape in parameters:
            one = 1
            for dimension in shape:
                one *= dimension
            count += one
        self.assertEqual(count, self.whole["facts"]["parameters"])
        losses = struct.unpack(f"<{STEPS}d", tensors["run/loss"][2])
        self.assertEqual(list(losses), [point["loss"] for point in self.whole["training"]["loss_curve"]])

    def test_an_interrupted_run_goes_on_to_the_same_losses(self):
        out = self.interrupt(signal.SIGTERM)
        self.assertIn("--resume", out)
        case = self.report()["cases"][0]
        self.assertEqual((self.report()["status"], case["status"]), ("interrupted", "interrupted"))
        done = len(case["measurement"]["step_seconds"])
        words, _ = read_safetensors(self.files()[0])
        self.assertEqual(words["step"], str(done))  # nothing that was trained is lost
        self.assertLess(done, STEPS)
        command = self.report()["command_line"]
        self.resume()
        after = self.report()["cases"][0]
        self.assert_same_as_undisturbed(after)
        self.assertEqual(after["measurement"]["step_seconds"][:done], case["measurement"]["step_seconds"])
        self.assertEqual(after["checkpoints"]["resumed_at_step"], done)
        self.assertFalse(self.flags(after)["resumed"]["blocks_advice"])
        self.assertIn(f"after step {done}", self.flags(after)["resumed"]["sentence"])
        self.assertEqual((self.report()["status"], self.report()["command_line"]), ("complete", command))

    def test_twice_interrupted(self):
        self.interrupt(signal.SIGINT, every="100")
        process = start("--resume", str(self.out))
        first = self.files()[0]
        while self.files()[0] == first and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 143)
        self.resume()
        self.assert_same_as_undisturbed(self.report()["cases"][0])

    def test_a_killed_run_goes_on_from_its_last_checkpoint(self):
        self.interrupt(signal.SIGKILL, every="40", files=2)
        self.assertEqual([case["status"] for case in self.report()["cases"]], ["skipped"])
        unfinished = self.files()[0].with_name(self.files()[0].stem.rsplit("-", 1)[0] + "-500.safetensors.tmp")
        unfinished.write_bytes(b"half of a checkpoint")
        self.resume()
        self.assertFalse(unfinished.exists())
        self.assert_same_as_undisturbed(self.report()["cases"][0])

    def test_a_damaged_checkpoint_leaves_the_one_before_it(self):
        self.interrupt(signal.SIGTERM, files=2)
        newest, before = self.files()[:2]
        data = bytearray(newest.read_bytes())
        data[-5] ^= 4
        newest.write_bytes(data)
        self.resume()
        case = self.report()["cases"][0]
        self.assert_same_as_undisturbed(case)
        self.assertEqual(case["checkpoints"]["resumed_at_step"], int(before.stem.rsplit("-", 1)[1]))
        self.assertIn("checksum", self.flags(case)["resumed"]["sentence"])

    def test_damaged_and_foreign_checkpoints_are_refused_by_name(self):
        self.interrupt(signal.SIGTERM, files=1)
        good = self.files()[0].read_bytes()
        for path in self.files()[1:]:
            path.unlink()
        newest, before = self.files()[0], self.out.read_text()
        words, _ = read_safetensors(newest)
        for damaged, fragment in [(good[:-1], "lies at bytes"), (good[:100], "cut off"), (b"", "too few"),
                                  (b"{}" * 50, "cut off"), (good[:-9] + b"x" + good[-8:], "checksum"),
                                  (struct.pack("<Q", 2) + b"{}", "no checkpoint of gpusizer")]:
            newest.write_bytes(damaged)
            text = self.resume(3)
            self.assertIn(newest.name, text)
            self.assertIn(fragment, text)
            self.assertEqual(text.count("\n"), 1)
            self.assertEqual(self.out.read_text(), before)
        # Of another run of the same case, whole as it is.
        other = self.folder / "other"
        code, _, err = call("run", *CASE[:-1], "0.02", "--max-steps", "60", "--checkpoint", str(other),
                            "--out", str(self.folder / "o.json"))
        self.assertEqual(code, 0, err)
        (path,) = other.glob("*-step-60.safetensors")
        newest.write_bytes(path.read_bytes())
        text = self.resume(3)
        self.assertIn(newest.name, text)
        self.assertIn("learning_rate is '0.02'", text)
        newest.write_bytes(good)
        self.assertNotEqual(words["step"], "60")
        newest.rename(newest.with_name(newest.name.replace("step-" + words["step"], "step-60")))
        self.assertIn(f"of step {words['step']}", self.resume(3))

    def test_without_a_checkpoint_the_case_begins_anew(self):
        self.interrupt(signal.SIGTERM)
        for path in self.files():
            path.unlink()
        self.resume()
        case = self.report()["cases"][0]
        self.assert_same_as_undisturbed(case)
        self.assertNotIn("resumed", self.flags(case))
        self.assertIn("began_anew", self.flags(case))

    def test_every_family_goes_on_to_the_same_losses(self):
        """Dropout, a loss scale, optimizers with counters, micro-batches, a schedule in steps."""
        small = ["--layers", "1", "--hidden", "16", "--steps", "150", "--lr", "0.001"]
        families = [["--model", "bert-mini", "--heads", "2", "--sequence", "16", "--vocabulary", "200", "--batch", "4",
                     "--precision", "fp16", "--optimizer", "lamb", "--synthetic-samples", "41"],
                    ["--model", "lstm", "--window", "12", "--horizon", "2", "--batch", "8", "--optimizer", "adamw",
                     "--accumulate", "2", "--synthetic-samples", "101", "--eval", "on"],
                    ["--model", "temporal", "--heads", "2", "--window", "12", "--horizon", "2", "--batch", "8",
                     "--optimizer", "adagrad", "--schedule", "step", "--precision", "bf16", "--clip-norm", "1"]]
        for family in families:
            code, _, err = call("run", *family, *small, "--out", str(self.folder / "whole.json"))
            self.assertEqual(code, 0, err)
            whole = json.loads((self.folder / "whole.json").read_text())["cases"][0]["training"]
            self.interrupt(signal.SIGTERM, every="31", arguments=[*family, *small, "--checkpoint", str(self.saved)])
            self.assertLess(len(self.report()["cases"][0]["training"]["loss_curve"]), 150, family)
            self.resume()
            case = self.report()["cases"][0]
            self.assertIn("resumed", self.flags(case))
            self.assertEqual(case["training"]["loss_curve"], whole["loss_curve"], family)
            self.assertEqual([e["loss"] for e in case["training"]["evaluations"]],
                             [e["loss"] for e in whole["evaluations"]])
            for path in self.files():
                path.unlink()

    def test_a_suite_goes_on_with_its_first_unfinished_case(self):
        suite = self.folder / "s.json"
        tiny = {"model": "resnet8", "batch": 8, "image_size": 8, "checkpoint": str(self.saved)}
        suite.write_text(json.dumps({"cases": [dict(tiny, max_steps=4), dict(tiny, seed=2, steps=500),
                                               dict(tiny, seed=3, max_steps=4)]}))
        self.interrupt(signal.SIGTERM, files=2, arguments=["--suite", str(suite)])
        before = self.report()["cases"]
        self.assertEqual([case["status"] for case in before], ["ok", "interrupted", "skipped"])
        self.resume()
        after = self.report()["cases"]
        self.assertEqual([case["status"] for case in after], ["ok", "ok", "ok"])
        self.assertEqual(after[0], before[0])
        self.assertEqual(len(after[1]["training"]["loss_curve"]), 500)
        suite.write_text(json.dumps({"cases": [dict(tiny, max_steps=5, batch=4)]}))
        report = self.report()
        report["cases"][2]["status"], report["cases"][2]["reason"] = "skipped", "changed by hand"
        self.out.write_text(json.dumps(report))
        self.assertIn("case 1 of the report", self.resume(2))

    def test_a_finished_report_needs_nothing(self):
        self.assertEqual(call("run", *TINY, "--max-steps", "4", "--out", str(self.out))[0], 0)
        before = self.out.read_text()
        self.assertIn("nothing to do", self.resume())
        self.assertEqual(self.out.read_text(), before)

    def test_what_cannot_be_is_refused(self):
        first = call("run", *TINY, "--max-steps", "4", "--checkpoint", str(self.saved), "--out", str(self.out))
        self.assertEqual(first[0], 0, first)
        before = sorted((path.name, path.read_bytes()) for path in self.saved.iterdir())
        for code, fragments, arguments in [
            (2, ["earlier run", "--resume"], [*TINY, "--max-steps", "4", "--checkpoint", str(self.saved)]),
            (2, ["--checkpoint-every", "--checkpoint"], [*TINY, "--max-steps", "4", "--checkpoint-every", "3"]),
            (2, ["--checkpoint-every"], [*TINY, "--checkpoint", str(self.saved), "--checkpoint-every", "-3"]),
            (2, ["--batch", "--resume"], ["--resume", str(self.out), "--batch", "4"]),
            (2, ["--suite", "--resume"], ["--resume", str(self.out), "--suite", "demo"]),
            (3, ["no.json"], ["--resume", str(self.folder / "no.json")]),
            (5, ["/dev/null/x"], [*TINY, "--max-steps", "4", "--checkpoint", "/dev/null/x"]),
        ]:
            out = [] if "--resume" in arguments else ["--out", str(self.folder / "n.json")]
            got, out, err = call("run", *arguments, *out)
            self.assertEqual((got, out, err.count("\n")), (code, "", 1), err)
            for fragment in fragments:
                self.assertIn(fragment, err)
            self.assertFalse((self.folder / "n.json").exists())
        self.assertEqual(sorted((path.name, path.read_bytes()) for path in self.saved.iterdir()), before)

    def test_a_report_of_another_machine_is_refused(self):
        self.interrupt(signal.SIGTERM)
        report = self.report()
        report["environment"]["cpu_model"] = "Another CPU"
        self.out.write_text(json.dumps(report))
        self.assertIn("Another CPU", self.resume(2))

    def test_a_disk_that_is_full_costs_no_measurement(self):
        code, _, err = call("run", *TINY, "--max-steps", "20", "--checkpoint", str(self.saved), "--out", str(self.out),
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
        self.assertEqual(code, 0, err)
        case = self.report()["cases"][0]
        self.assertEqual((case["status"], case["checkpoints"]["count"]), ("ok", 0))
        self.assertIn("4 of 4", self.flags(case)["checkpoint_failed"]["sentence"])
        self.assertEqual(list(self.saved.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
