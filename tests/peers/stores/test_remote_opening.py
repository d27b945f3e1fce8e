#!/usr/bin/env python3
"""A source whose listing takes long: while it is listed a daemon tells which names are there by now, and says nothing of
steps; then it is the run that it is."""

import concurrent.futures
import threading

import remote  # finds the modules of e2e and support
from support import GOLDEN, wait_until
from test_tasks import Daemon

PAGE = 1000  # keys that the server lists at a time
BESIDE = 1200


class RemoteOpening(remote.RemoteTest):
    def test_names_are_told_before_anything_is_judged(self):
        place = self.store.place("opening")
        place.put(f"{GOLDEN}/trl-v2-raw/bucket")
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda n: place.put_object(f"beside/{n:04}", b"x"), range(BESIDE)))
        listed, going_on = threading.Event(), threading.Event()

        def act(number):
            if number > 2:  # behind the question for mirrors and the first page
                listed.set()
                going_on.wait(60)
            return True

        with remote.Requests(self.store, act):
            daemon = Daemon(place.url, self.path("output"), self.environment())
            self.addCleanup(daemon.end)
            self.addCleanup(going_on.set)
            self.assertTrue(listed.wait(60))

            def run():
                return daemon.ask("GET", "runs")[1]["runs"][0]

            told = wait_until(lambda: run()["opening"] if "objects" in (run()["opening"] or "") else None, 60, "names")
            self.assertRegex(told, rf"^listing: {PAGE} objects, up to beside/\d+$")
            opening = run()
            self.assertEqual((opening["state"], opening["steps"], opening["gaps"]), ("opening", 0, 0))
            self.assertIsNone(opening["health"]["state"])
            going_on.set()
            wait_until(lambda: run()["state"] == "live", 60, "the run")
            self.assertIsNone(run()["opening"])
            self.assertGreater(run()["steps"], 10)


if __name__ == "__main__":
    remote.main()
