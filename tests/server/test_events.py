#!/usr/bin/env python3
"""Streams of events: what arrives, what a break costs, what a stalled client costs the others."""

import contextlib
import socket
import tempfile
import time
import unittest

from support import READ, Server, wait_until

TOKEN = {"authorization": f"Bearer {READ}"}


class EventStreams(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def server(self, **options):
        server = Server(self.folder.name, tokens=True, **options)
        self.addCleanup(server.stop)
        return server

    def publish(self, server, topic, data, run="r", key=""):
        answer = server.ask("POST", f"api/v1/publish?topic={topic}&run={run}&key={key}", data, **TOKEN)
        self.assertEqual(answer.status, 200)

    def test_streams_are_not_stored_and_not_buffered(self):
        server = self.server()
        with server.events(**TOKEN) as stream:
            self.assertEqual(stream.answer.status, 200)
            self.assertEqual(stream.answer.headers["content-type"], "text/event-stream")
            self.assertEqual(stream.answer.headers["cache-control"], "no-store")
            self.assertEqual(stream.answer.headers["x-accel-buffering"], "no")
            self.assertEqual(next(stream.blocks())["retry"], "2000")

    def test_events_arrive_filtered(self):
        server = self.server()
        with server.events("?topics=step,task&run=a", **TOKEN) as stream:
            next(stream.blocks())
            for topic, run, n in (("step", "a", 1), ("step", "b", 2), ("heat", "a", 3), ("task", "", 4), ("task", "a", 5)):
                self.publish(server, topic, f'{{"n":{n}}}', run)
            self.assertEqual(stream.events(3), [("step", {"n": 1}), ("task", {"n": 4}), ("task", {"n": 5})])

    def test_a_session_listens_sixteen_times_and_its_end_ends_the_streams(self):
        server = self.server()
        cookie = server.session()
        with contextlib.ExitStack() as streams:
            held = [streams.enter_context(server.events(cookie=cookie)) for _ in range(16)]
            for stream in held:
                self.assertEqual(next(stream.blocks())["retry"], "2000")
            refused = server.ask("GET", "api/v1/events", cookie=cookie)
            self.assertEqual(refused.status, 429)
            self.assertGreater(int(refused.headers["retry-after"]), 0)
            other = server.session(READ)  # of somebody else
            with server.events(cookie=other) as stream:
                self.assertEqual(next(stream.blocks())["retry"], "2000")
            held[0].__exit__(None, None, None)
            wait_until(lambda: server.ask("HEAD", "api/v1/runs", cookie=cookie).status == 200, "the daemon goes on")
            began = time.monotonic()
            self.assertEqual(server.ask("DELETE", "api/v1/session", cookie=cookie, origin=server.origin).status, 204)
            for stream in held[1:]:
                self.assertEqual(list(stream.blocks()), [])
            self.assertLess(time.monotonic() - began, 5)  # the next ping is 15 s away

    def test_a_principal_listens_128_times(self):
        server = self.server()
        with contextlib.ExitStack() as streams:
            for number in range(128):  # one address has fewer connections than that
                streams.enter_context(server.events(source=f"127.0.0.{2 + number // 32}", **TOKEN))
            refused = server.ask("GET", "api/v1/events", **TOKEN)
            self.assertEqual(refused.status, 429)
            self.assertEqual(server.ask("GET", "api/v1/runs", **TOKEN).status, 200)

    def test_a_broken_stream_goes_on_where_it_was(self):
        server = self.server(events=200)
        with server.events(**TOKEN) as stream:
            first = [data["n"] for _, data in stream.events(20)]
            seen = stream.last_id
        time.sleep(0.2)
        with server.events(last_event_id=seen, **TOKEN) as stream:
            second = [data["n"] for _, data in stream.events(80)]
        self.assertEqual(first + second, list(range(first[0], first[0] + 100)))
        with server.events(f"?since={seen}", **TOKEN) as stream:
            self.assertEqual(stream.events(1)[0][1]["n"], second[0])

    def test_what_was_lost_is_said(self):
        server = self.server(events=20_000)
        with server.events(**TOKEN) as stream:
            stream.events(1)
            seen = stream.last_id
        number = int(seen.split("-")[1])
        wait_until(lambda: self.position(server) > number + 10_100, "10,000 events")
        with server.events(last_event_id=seen, **TOKEN) as stream:
            events = stream.events(3)
        self.assertEqual(events[0], ("reset", {}))
        self.assertEqual(events[2][1]["n"], events[1][1]["n"] + 1)

    def position(self, server):
        with server.events("?topics=none", **TOKEN) as stream:
            next(stream.blocks())
            return int(stream.last_id.split("-")[1])

    def test_another_daemon_resets(self):
        first = self.server()
        with first.events(**TOKEN) as stream:
            next(stream.blocks())
            seen = stream.last_id
        second = self.server()
        for stale in (seen, "nonsense", "1", "x" * 1000):
            with second.events(last_event_id=stale, **TOKEN) as stream:
                self.assertEqual(stream.events(1), [("reset", {})])

    def test_quiet_streams_show_life_and_move_the_position_on(self):
        server = self.server(ping_ms=200)
        with server.events("?topics=task", **TOKEN) as stream:
            blocks = stream.blocks()
            first = next(blocks)["id"]
            self.publish(server, "step", "{}")
            for block in blocks:
                self.assertEqual(block[""], "ping")
                if block["id"] != first:
                    break

    def test_a_key_is_held_back_to_ten_a_second(self):
        server = self.server()
        with server.events(**TOKEN) as stream:
            next(stream.blocks())
            started = time.monotonic()
            for n in range(200):
                self.publish(server, "task", f'{{"n":{n}}}', key="t")
            seconds = time.monotonic() - started
            numbers = []
            while not numbers or numbers[-1] != 199:
                numbers.append(stream.events(1)[0][1]["n"])
            self.assertEqual(numbers[0], 0)
            self.assertEqual(numbers, sorted(set(numbers)))
            self.assertLessEqual(len(numbers), 10 * seconds + 2)

    def test_who_signs_out_stops_listening(self):
        server = self.server(ping_ms=200)
        cookie = server.session()
        with server.events(cookie=cookie) as stream:
            next(stream.blocks())
            server.ask("DELETE", "api/v1/session", cookie=cookie, origin=server.origin)
            self.assertEqual([block for block in stream.blocks() if "data" in block], [])

    def test_strangers_hear_nothing(self):
        server = self.server()
        for headers in ({}, {"authorization": "Bearer guess"}, {"sec_fetch_site": "cross-site", **TOKEN}):
            with server.events(**headers) as stream:
                self.assertIn(stream.answer.status, (401, 403))

    def test_a_stalled_client_is_cut_and_costs_the_others_nothing(self):
        server = self.server(events=200, bytes=20_000, write_ms=700)
        stalled = server.events(**TOKEN)
        self.addCleanup(stalled.socket.close)
        stalled.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with server.events(**TOKEN) as stream:
            numbers = [data["n"] for _, data in stream.events(800)]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 800)))
        received = []
        try:
            received = [block for block in stalled.blocks() if "data" in block]
        except ConnectionResetError:
            pass
        self.assertLess(len(received), 800)

    def test_clients_that_go_are_forgotten(self):
        server = self.server()
        before = server.descriptors()
        for _ in range(30):
            with server.events(**TOKEN) as stream:
                next(stream.blocks())
        wait_until(lambda: server.descriptors() == before, "the connections to be closed")

    def test_stopping_ends_all_streams(self):
        server = self.server(events=100)
        streams = [server.events(**TOKEN) for _ in range(50)]
        for stream in streams:
            self.addCleanup(stream.socket.close)
            stream.events(1)
        seconds, _ = server.stop()
        print(f"stopped in {seconds * 1000:.0f} ms with {len(streams)} streams", flush=True)
        for stream in streams:
            try:
                list(stream.blocks())
            except ConnectionResetError:
                pass


if __name__ == "__main__":
    unittest.main()
