"""A hostile client and people who look at the dashboard meanwhile, each in a process of its own: what a test and a bench
share. Standard library only."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

from support import HERE, READ, read_answer, request, write_private

PROGRAM = os.environ.get("DELTASCOPE_BIN") or os.path.join(HERE, "..", "..", "build", "release", "bin", "deltascope")
BUCKET = os.path.join(HERE, "..", "golden", "trl-v2-raw", "bucket")
VIEWERS = 20


def viewer_token(number):
    return f"viewer-{number:02}-canary-5be1"


class Daemon:
    """`deltascope serve` with a token for each viewer, and one that the hostile client got hold of."""

    def __init__(self, folder, port=0):
        self.base = "/"
        if port:  # of one that runs
            self.port, self.process = port, None
        else:
            tokens = "".join(f"viewer{n} read {viewer_token(n)}\n" for n in range(VIEWERS))
            write_private(os.path.join(folder, "tokens"), tokens + f"stolen read {READ}\nunused act unused-canary-77aa\n")
            self.process = subprocess.Popen(
                [PROGRAM, "serve", BUCKET, "--listen", "127.0.0.1:0", "--token-file", os.path.join(folder, "tokens"),
                 "--allow-acts", "--output", os.path.join(folder, "out")],
                env=os.environ | {"DELTASCOPE_HOME": os.path.join(folder, "home")}, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True)
            self.port = int(self.process.stdout.readline().split(":")[2].split("/")[0])
        self.host = f"127.0.0.1:{self.port}"
        self.origin = f"http://{self.host}"

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=30)
        return self.process.returncode

    def connect(self, source="127.0.0.1", timeout=20):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=timeout, source_address=(source, 0))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client


# --- viewers ---------------------------------------------------------------------------------------------------------


class Viewer:
    """One page in a browser: a cookie, a stream of events, and a connection that is used again while it lasts."""

    PATHS = ("api/v1/runs", "api/v1/tasks", "api/v1/alerts", "api/v1/capabilities", "api/v1/runs/bucket/objects")

    def __init__(self, daemon, number):
        self.daemon, self.number = daemon, number
        self.waits, self.wrong = [], []
        with daemon.connect() as client:
            client.sendall(request(daemon, "POST", "api/v1/session", json.dumps({"code": viewer_token(number)}),
                                   origin=daemon.origin))
            self.cookie = read_answer(client).headers["set-cookie"].split(";")[0]
        self.stream = daemon.connect()
        self.stream.sendall(request(daemon, "GET", "api/v1/events", cookie=self.cookie))
        assert b" 200 " in self.stream.recv(100)
        self.client = None

    def ask(self, path):
        """As browsers do: where a connection that was used before turns out to be closed, once more on a new one."""
        for fresh in (False, True):
            if fresh or not self.client:
                self.client = self.daemon.connect()
            try:
                self.client.sendall(request(self.daemon, "GET", path, cookie=self.cookie))
                answer = read_answer(self.client)
                if answer:
                    return answer.status
            except OSError:
                pass
            self.client.close()
            self.client = None
        return None

    def look(self, stop):
        turn = random.Random(self.number)
        while not stop.is_set():
            path = turn.choice(self.PATHS)
            began = time.monotonic()
            status = self.ask(path)
            self.waits.append(time.monotonic() - began)
            if status != 200:
                self.wrong.append((path, status))
            stop.wait(0.05 + 0.1 * turn.random())

    def stream_is_open(self):
        self.stream.setblocking(False)
        try:
            while self.stream.recv(65536):
                pass
            return False
        except BlockingIOError:
            return True
        except OSError:
            return False

    def token_passes(self):
        with self.daemon.connect() as client:
            client.sendall(request(self.daemon, "GET", "api/v1/runs", authorization=f"Bearer {viewer_token(self.number)}"))
            return read_answer(client).status == 200


def watch(port):
    """Looks until stdin ends; then says how it was."""
    daemon = Daemon(None, port)
    viewers = [Viewer(daemon, number) for number in range(VIEWERS)]
    stop = threading.Event()
    threads = [threading.Thread(target=viewer.look, args=(stop,)) for viewer in viewers]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    sys.stdin.read()
    stop.set()
    for thread in threads:
        thread.join()
    waits = sorted(wait for viewer in viewers for wait in viewer.waits)
    print(json.dumps({
        "requests": len(waits), "median_s": waits[len(waits) // 2], "p99_s": waits[len(waits) * 99 // 100],
        "worst_s": waits[-1], "wrong": [fault for viewer in viewers for fault in viewer.wrong][:20],
        "streams": sum(viewer.stream_is_open() for viewer in viewers),
        "tokens": sum(viewer.token_passes() for viewer in viewers)}), flush=True)


# --- the hostile client ----------------------------------------------------------------------------------------------


class Hostile:
    """Sends what a client may not, from the address of the viewers and from others."""

    MOST_HELD = 300  # sockets that it keeps open

    def __init__(self, daemon, seed):
        self.daemon, self.turn, self.held, self.said = daemon, random.Random(seed), [], {}

    def attack(self, count):
        kinds = [self.nonsense, self.large_head, self.half_head, self.idle, self.wrong_token, self.wrong_code,
                 self.large_body, self.slow_body, self.unframed, self.huge_plan, self.deep_plan, self.many_plans,
                 self.unread_answer, self.events_of_nobody]
        for _ in range(count):
            kind = self.turn.choice(kinds)
            try:
                status = kind()
            except OSError:
                status = None
            self.said[f"{kind.__name__} {status}"] = self.said.get(f"{kind.__name__} {status}", 0) + 1
            while len(self.held) > self.MOST_HELD:
                self.held.pop(0).close()

    def connect(self):
        return self.daemon.connect(self.turn.choice(["127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.3"]), timeout=5)

    def send(self, data):
        with self.connect() as client:
            client.sendall(data)
            answer = read_answer(client)
            return answer and answer.status

    def hold(self, data):
        """Sends and neither reads nor closes."""
        client = self.connect()
        self.held.append(client)
        client.sendall(data)

    def request(self, method, path, body=None, **headers):
        return request(self.daemon, method, path, body, **headers)

    def plan(self, to):
        body = json.dumps({"kind": "materialize", "args": {"step": "1", "to": to}})
        return self.send(self.request("POST", "api/v1/runs/bucket/plans", body, authorization=f"Bearer {READ}"))

    def nonsense(self):
        return self.send(self.turn.randbytes(self.turn.randrange(1, 2000)) + b"\r\n\r\n")

    def large_head(self):
        return self.send(self.request("GET", "healthz", x_filler="y" * 40_000))

    def half_head(self):
        self.hold(self.request("GET", "healthz")[:-2])

    def idle(self):
        self.hold(b"")

    def wrong_token(self):
        return self.send(self.request("GET", "api/v1/runs", authorization=f"Bearer guess-{self.turn.random()}"))

    def wrong_code(self):
        return self.send(self.request("POST", "api/v1/session", '{"code":"guess"}', origin=self.daemon.origin))

    def large_body(self):
        return self.send(self.request("POST", "api/v1/session", b" " * 100_000, origin=self.daemon.origin))

    def slow_body(self):
        self.hold(self.request("POST", "api/v1/runs/bucket/plans", authorization=f"Bearer {READ}", content_length=60_001,
                               content_type="application/json") + b" " * 60_000)

    def unframed(self):
        return self.send(self.request("POST", "api/v1/tasks", transfer_encoding="gzip, chunked"))

    def huge_plan(self):
        return self.plan("x" * 900_000)

    def deep_plan(self):
        return self.plan("a/" * 20_000)

    def many_plans(self):
        return self.plan("x" * self.turn.randrange(1, 255))

    def unread_answer(self):
        self.hold(self.request("GET", "openapi.json") * 5)

    def events_of_nobody(self):
        return self.send(self.request("GET", "api/v1/events"))


def harm(port, count, seed):
    hostile = Hostile(Daemon(None, port), seed)
    hostile.attack(count)
    print(json.dumps(hostile.said), flush=True)


# --- both ------------------------------------------------------------------------------------------------------------


def besiege(folder, requests, attackers=2):
    """What the viewers met, what the hostile clients were told, and the peak of the daemon's memory in bytes."""
    daemon = Daemon(folder)
    me = [sys.executable, "-B", os.path.join(HERE, "hostile.py")]
    try:
        with daemon.connect() as client:  # a stolen token that its owner uses
            client.sendall(request(daemon, "GET", "api/v1/runs", authorization=f"Bearer {READ}"))
            assert read_answer(client).status == 200
        watcher = subprocess.Popen([*me, "watch", str(daemon.port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert watcher.stdout.readline() == "ready\n"
        hostile = [subprocess.Popen([*me, "harm", str(daemon.port), str(requests // attackers), str(seed)],
                                    stdout=subprocess.PIPE, text=True) for seed in range(attackers)]
        told = {}
        for process in hostile:
            for kind, count in json.loads(process.communicate()[0]).items():
                told[kind] = told.get(kind, 0) + count
        met = json.loads(watcher.communicate()[0])
        return met, dict(sorted(told.items())), daemon.peak_bytes()
    finally:
        met_end = daemon.stop()
        if met_end != 0:
            raise RuntimeError(f"the daemon ended with {met_end}")


if __name__ == "__main__":
    if sys.argv[1] == "watch":
        watch(int(sys.argv[2]))
    else:
        harm(*map(int, sys.argv[2:]))
