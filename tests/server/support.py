"""What the tests of the HTTP server share: a running server and a client that sends what it is told. Standard library
only. The server comes from the environment: DELTASCOPE_ECHO_SERVER."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("DELTASCOPE_ECHO_SERVER") or os.path.join(
    HERE, "..", "..", "build", "release", "bin", "deltascope-echo-server")
READ, ACT, ADMIN = "read-canary-4f1d8c2a9b", "act-canary-77e01b5d3c", "admin-canary-c09a64ef12"


class Server:
    """A server of its own for a test; stopped at the end of the with block."""

    def __init__(self, folder=None, tokens=False, **options):
        self.folder = folder
        if tokens:
            options["token_file"] = os.path.join(folder, "tokens")
            write_private(options["token_file"], f"reader read {READ}\nactor act {ACT}\nboss admin {ADMIN}\n")
        self.process = subprocess.Popen([PROGRAM, *(f"{name}={value}" for name, value in options.items())],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        sign_in = self.process.stdout.readline().strip()
        if not sign_in:
            raise RuntimeError(self.process.communicate()[1])
        self.code = sign_in.partition("#k=")[2]
        found = re.fullmatch(r"https?://(\[.*\]|[^:]*)(?::(\d+))?(/.*)", self.url)
        self.port = int(found[2] or 0)
        self.base = found[3]
        self.host = f"127.0.0.1:{self.port}"
        self.origin = f"http://{self.host}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Asks the server to end; returns seconds that it took, and everything that it printed after its address."""
        started = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=20)
        if self.process.returncode != 0:
            raise RuntimeError(f"the server ended with {self.process.returncode}: {err}")
        return time.monotonic() - started, out + err

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def threads(self):
        """Each slow request that the server knows of has one."""
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def connect(self, source="127.0.0.1"):
        """`source`: address that the client has; all of 127.0.0.0/8 are this machine."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=15, source_address=(source, 0))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def ask(self, method, path, body=None, source="127.0.0.1", **headers):
        """One request on one connection. Headers: Host is right unless given; None leaves it out."""
        with self.connect(source) as client:
            client.sendall(request(self, method, path, body, **headers))
            return read_answer(client, method)

    def session(self, secret=None):
        """Cookie of a new session."""
        answer = self.ask("POST", "api/v1/session", json.dumps({"code": secret or self.code}), origin=self.origin)
        if answer.status != 204:
            raise RuntimeError(answer)
        return answer.headers["set-cookie"].split(";")[0]

    def events(self, query="", source="127.0.0.1", **headers):
        return Events(self, query, source, **headers)


def write_private(path, text, mode=0o600):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def request(server, method, path, body=None, **headers):
    path = path if path.startswith(("/", "http:", "*")) else server.base + path
    headers.setdefault("host", server.host)
    if body is not None:
        body = body.encode() if isinstance(body, str) else body
        headers.setdefault("content_type", "application/json")
        headers.setdefault("content_length", len(body))
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items() if value is not None]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body[:300]!r}"


def read_head(file):
    line = file.readline()
    if not line:
        return None
    status = int(line.split()[1])
    headers = {}
    while (line := file.readline().strip()):
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    return Answer(status, headers, b"")


def read_answer(client, method="GET"):
    """None where the server closed without an answer."""
    file = client.makefile("rb")
    answer = read_head(file)
    if answer and method != "HEAD":
        answer.body = file.read(int(answer.headers.get("content-length", 0)))
    return answer


class Events:
    """An open stream of events."""

    def __init__(self, server, query="", source="127.0.0.1", **headers):
        self.socket = server.connect(source)
        self.socket.sendall(request(server, "GET", "api/v1/events" + query, **headers))
        self.file = self.socket.makefile("rb")
        self.answer = read_head(self.file)
        self.last_id = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def blocks(self):
        """The stream, taken apart: dictionaries of fields; a comment stands under ''."""
        block = {}
        for raw in self.file:
            line = raw.decode().rstrip("\n")
            if not line:
                self.last_id = block.get("id", self.last_id)
                yield block
                block = {}
            else:
                name, _, value = line.partition(":")
                block[name] = value.removeprefix(" ")

    def events(self, count):
        """The next so many events: (topic, data)."""
        out = []
        for block in self.blocks():
            if "data" in block:
                out.append((block["event"], json.loads(block["data"])))
            if len(out) == count:
                return out
        raise EOFError(out)


def wait_until(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"waited too long: {what}")
        time.sleep(0.01)
