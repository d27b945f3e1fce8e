#!/usr/bin/env python3
"""`demo --into` a remote store: its run is an ordinary one there, and a copy of it made by the store's official client
is the same run."""

import remote


class RemoteDemo(remote.RemoteTest):
    def test_the_run_of_the_demo_stands_in_the_store(self):
        place = self.store.place("demo/run")
        options = self.store.writer_options
        self.ok("demo", "--into", place.url, "--dir", self.path("demo"), "--rate", 5, "--seed", 7, "--for", 6, *options, timeout=800)
        copy = self.fetch(place, "run")
        steps = []
        for source in (place.url, copy):
            verify = self.run_ds("verify", source, "--level", "3", "--json")
            self.assertIn(verify.code, (0, 6), str(verify))  # the demo damages a delta on purpose
            steps.append([(s["epoch"], s["step"], s["result"], s["root"]) for s in verify.json()["steps"]])
        self.assertEqual(steps[0], steps[1])
        self.assertGreater(len(steps[0]), 60)  # the steps that are there before it begins to train
        self.assertIn("verified", {step[2] for step in steps[0]})
        latest = self.ok_json("log", place.url)["latest"]
        self.assertEqual(*(self.ok_json("digest", f"{source}@{latest}")["root"] for source in (place.url, copy)))


if __name__ == "__main__":
    remote.main()
