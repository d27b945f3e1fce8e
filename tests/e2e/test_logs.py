#!/usr/bin/env python3
"""`--logs`: what the frameworks print beside a run gives the pauses that its files do not tell."""

import os
import signal
import threading

from support import GOLDEN, OK, E2ETest, log_steps, main, wait_until

RUN = os.path.join(GOLDEN, "trl-v2-gap", "bucket")


def stamp(seconds):
    return f"2026-08-21 12:{seconds // 60:02}:{seconds % 60:02},000"


def trainer_sync(step, paused, at):
    """A sync as the trainer of TRL v2 logs it."""
    folder = "anchors" if step in (1, 10) else "deltas"
    lines = [
        (0, "Delta: 724/92352 elements changed (sparsity=99.2160%)"),
        (0, "Weight sync: uploading to HF Hub (inference still running)..."),
        (8, f"[delta_engine] uploaded u/b/{folder}/step_{step:06}.safetensors (6.1 MB, 19 params, sparse=True)"),
        (8, "Weight sync: upload took 8.0s, now pausing vLLM..."),
        (8, "Weight sync: signaling vLLM to apply... (pause took 0.2s)"),
        (9, f"Weight sync: resuming vLLM... (apply took {paused:.1f}s)"),
        (9, f"Weight sync: done. Total 9.4s (inference paused {paused:.1f}s)"),
    ]
    return "".join(f"{stamp(at + after)} - trl.async_grpo - INFO - {text}\n" for after, text in lines)


class Logs(E2ETest):
    def write(self, name, text):
        with open(self.path(name), "a", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def test_a_trainer_tells_the_pause_of_each_step(self):
        noise = "Step 3: loss=0.1 | weight sync soon\n" * 50
        log = self.write("trainer.log", noise.join(trainer_sync(n, 0.5 + n / 10, 40 * n) for n in range(2, 10)))
        steps = log_steps(self.ok_json("log", RUN, "--logs", log))
        for (_, step), view in steps.items():
            if step in range(2, 10):
                self.assertAlmostEqual(view["pause_ms"], 500 + 100 * step)
                self.assertEqual(view["spans_from"], "logs")
            else:  # what nobody told stays unknown
                self.assertIsNone(view["pause_ms"])
                self.assertIsNone(view["spans_from"])
        text = self.ok("log", RUN, "--logs", log).out
        self.assertRegex(text, r"paused +to rebuild")
        self.assertRegex(text, r"\n ● +4 .* 900 ms .*B")
        self.assertNotIn("paused", self.ok("log", RUN).out)
        self.assertRegex(self.ok("show", RUN + "@7", "--logs", log).out, r"paused +1\.2 s, say the logs")
        self.assertAlmostEqual(self.ok_json("show", RUN + "@7", "--logs", log)["pause_ms"], 1200)

    def test_of_several_engines_the_slowest_counts(self):
        trainer = self.write("trainer.log", trainer_sync(12, 1.1, 60))
        engines = []
        for number, seconds in enumerate((0.9, 2.4)):
            engines.append(
                self.write(
                    f"vllm-{number}.log",
                    f"INFO 08-21 12:01:09 [delta_engine.py:99] Applied delta (step 12, 19 params, sparsity=0.9922)"
                    f" | download {seconds:.2f}s decode+apply 0.20s\n",
                )
            )
        steps = log_steps(self.ok_json("log", RUN, "--logs", trainer, *engines))
        self.assertAlmostEqual(steps[(0, 12)]["pause_ms"], 2600)

    def test_a_log_that_cannot_be_read_is_a_problem(self):
        log = self.write("trainer.log", trainer_sync(3, 1.1, 60))
        document = self.ok_json("log", RUN, "--logs", log, self.path("gone.log"), self.work)
        self.assertEqual(
            {(p["code"], p["where"]) for p in document["problems"]} - {("DS-UNPROVEN", "")},
            {("DS-NOT-FOUND", self.path("gone.log")), ("DS-USAGE", self.work)},
        )
        self.assertAlmostEqual(log_steps(document)[(0, 3)]["pause_ms"], 1100)

    def test_trouble_in_a_log_is_a_note(self):
        text = "Weight sync: apply failed (HTTP 500), skipping — vLLM will use stale weights"
        log = self.write("trainer.log", trainer_sync(3, 1.1, 60) + f"2026-08-21T12:34:56Z {text}\n")
        notes = self.ok_json("log", RUN, "--logs", log)["notes"]
        self.assertEqual(notes, [{"actor": "trainer", "step": None, "t_us": 1787315696000000, "text": text}])

    def test_watch_prints_a_step_again_once_its_pause_is_known(self):
        log = self.write("trainer.log", trainer_sync(14, 1.1, 60))
        process = self.start("watch", RUN, "--headers-only", "--logs", log)
        lines = []
        threading.Thread(target=lambda: lines.extend(line.decode() for line in process.stdout), daemon=True).start()

        def said(*words):
            return any(all(word in line for word in words) for line in list(lines))

        wait_until(lambda: said(" 15 "), 20, "all steps that are there")
        self.assertTrue(said(" 14 ", "paused 1.1 s"), lines)
        self.assertFalse(said(" 15 ", "paused"), lines)
        self.write("trainer.log", trainer_sync(15, 0.7, 120))
        wait_until(lambda: said(" 15 ", "paused 700 ms"), 20, "the pause of step 15")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=10), OK)


if __name__ == "__main__":
    main()
