"""A reverse proxy on 127.0.0.1 that hurts requests and replies by rules: `with FaultProxy(upstream) as proxy:`.

Path, query, body and headers go on as they came, Host too, so that signatures over them stay valid: the client signs
the proxy's host. One request goes to the server at a time over a connection of its own. A fault is put in place with
`proxy.plan(Fault(kind, ...))`; it strikes once, and `proxy.injected` has a record of each one that struck.

Bodies of replies are held in memory; event streams are passed on as they come and are never hurt.
"""

import asyncio
import contextlib
import http.client
import re
import socket
import struct
import threading
import time

from faults import KINDS, SKEW, Reply, Request, date, fits, instead, shrunk

LARGEST = 64 << 20  # bytes of a body
GIVEN_UP = 90  # seconds that a stalled client is waited for


class Reset(Exception):
    """The client's connection is to be reset."""


class FaultProxy:
    """`change(target)`: makes the object behind a request another one, for "changed". `whole(target)`: its bytes, for
    "whole"; returns None where it cannot say. Both are called on the proxy's thread."""

    def __init__(self, upstream=None, change=None, whole=None):
        self.upstream, self.change, self.whole = upstream, change, whole
        self.faults, self.injected, self.seen, self.lock = [], [], [], threading.Lock()
        self.on_request = None  # called before a request goes on; where it answers False, the request is dropped
        self.loop = asyncio.new_event_loop()
        self.url = self.server = self.thread = None

    def __enter__(self):
        self.server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self.end(), self.loop).result(30)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)
        self.loop.close()

    async def end(self):
        self.server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def plan(self, *faults):
        """Replaces what was planned, and forgets the requests that were seen and what struck."""
        with self.lock:
            self.faults, self.injected, self.seen = list(faults), [], []

    def strike(self, request):
        """The fault that strikes a request, or None."""
        with self.lock:
            self.seen.append(request)
            for fault in self.faults:
                wanted = re.search(fault.match, f"{request.method} {request.target}")
                if not wanted or not fits(fault.kind, request):
                    continue
                if fault.skip:
                    fault.skip -= 1
                    continue
                self.faults.remove(fault)
                return fault
        return None

    def record(self, fault, request, note=""):
        entry = {"kind": fault.kind, "transient": KINDS[fault.kind][0], "request": f"{request.method} {request.target}"}
        with self.lock:
            self.injected.append(entry | {"range": request.header("range"), "note": note, "at": time.time()})

    # --- connections -------------------------------------------------------------------------------------------------

    async def serve(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            try:
                while (request := await read_request(reader, writer)) is not None:
                    await self.handle(request, writer)
            except Reset:
                reset(writer)
            finally:
                writer.close()

    async def handle(self, request, writer):
        fault = self.strike(request)
        if self.on_request and not self.on_request():
            raise Reset
        if fault and fault.kind == "refused":
            self.record(fault, request)
            raise Reset
        if fault and (reply := instead(fault, request)):
            self.record(fault, request)
            return await send(writer, request, reply)
        if fault and fault.kind == "changed":
            await self.loop.run_in_executor(None, self.change, request.target)
            self.record(fault, request)
            fault = None
        if "text/event-stream" in (request.header("accept") or ""):
            return await self.stream(request, writer)
        reply = await self.loop.run_in_executor(None, self.forward, request)
        if fault:
            await self.hurt(fault, request, reply, writer)
        else:
            await send(writer, request, reply)

    def forward(self, request):
        connection = http.client.HTTPConnection(self.upstream.removeprefix("http://"), timeout=120)
        try:
            connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers:
                if name.lower() not in ("connection", "expect"):
                    connection.putheader(name, value)
            connection.putheader("Connection", "close")
            connection.endheaders(request.body or None)
            answer = connection.getresponse()
            return Reply(answer.status, answer.reason, answer.getheaders(), answer.read())
        finally:
            connection.close()

    async def stream(self, request, writer):
        host, port = self.upstream.removeprefix("http://").split(":")
        reader, behind = await asyncio.open_connection(host, int(port))
        try:
            head = f"{request.method} {request.target} HTTP/1.1\r\n"
            head += "".join(f"{k}: {v}\r\n" for k, v in request.headers if k.lower() != "connection")
            behind.write((head + "Connection: close\r\n\r\n").encode("latin-1"))
            while chunk := await reader.read(1 << 16):
                writer.write(chunk)
                await writer.drain()
        finally:
            behind.close()
        raise ConnectionResetError

    # --- faults in replies -------------------------------------------------------------------------------------------

    async def hurt(self, fault, request, reply, writer):
        kind, body = fault.kind, reply.body
        at = min(int(fault.place * len(body)), max(0, len(body) - 1))
        if kind not in ("lost", "skewed-date") and (reply.status >= 300 or not body):
            with self.lock:  # nothing there that could be hurt; the next one will do
                self.faults.append(fault)
            return await send(writer, request, reply)
        if kind == "whole":
            everything = await self.loop.run_in_executor(None, self.whole, request.target) if self.whole else None
            if everything is not None:
                reply = Reply(200, "OK", reply.without("content-range"), everything)
                self.record(fault, request)
            return await send(writer, request, reply)
        if kind == "shrunk-listing":
            reply.body, gone = shrunk(body)
            reply.headers = reply.without("link")
            self.record(fault, request, f"{gone} entries are gone")
            return await send(writer, request, reply)
        self.record(fault, request, f"byte {at} of {len(body)}" if kind == "flip" else "")
        if kind == "lost":
            raise Reset
        if kind in ("cut", "slow", "stall"):
            writer.write(head_of(reply, len(body)) + body[:at])
            await writer.drain()
            if kind == "cut":
                raise Reset
            if kind == "stall":
                await asyncio.sleep(GIVEN_UP)
                raise Reset
            await asyncio.sleep(1)
            writer.write(body[at:])
            return await writer.drain()
        if kind == "too-long":
            writer.write(head_of(reply, len(body) + 100) + body)
            await writer.drain()
            raise ConnectionResetError
        if kind in ("too-short", "cut-listing"):
            reply.body = body[:at]
        elif kind == "skewed-date":
            reply.headers = reply.without("date") + [("Date", date(SKEW))]
        elif kind == "flip" and body:
            reply.body = body[:at] + bytes([body[at] ^ 1 << at % 8]) + body[at + 1 :]
        await send(writer, request, reply)


def reset(writer):
    """Closes a connection so that the other side sees a reset."""
    raw = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def read_request(reader, writer):
    line = await reader.readline()
    if not line.strip():
        return None
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers = []
    while (line := await reader.readline()).strip():
        name, value = line.decode("latin-1").rstrip("\r\n").split(":", 1)
        headers.append((name, value.strip()))
    request = Request(method, target, headers, b"")
    if (request.header("expect") or "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
    if "chunked" in (request.header("transfer-encoding") or "").lower():
        request.body = await read_chunks(reader)
    elif length := int(request.header("content-length") or 0):
        if length > LARGEST:
            raise ConnectionResetError
        request.body = await reader.readexactly(length)
    return request


async def read_chunks(reader):
    """A chunked body as it came: it goes on in this form."""
    raw = b""
    while True:
        line = await reader.readline()
        raw += line
        size = int(line.split(b";")[0], 16)
        raw += await reader.readexactly(size + 2) if size else b""
        if len(raw) > LARGEST:
            raise ConnectionResetError
        if not size:
            while (line := await reader.readline()).strip():
                raw += line
            return raw + b"\r\n"


def head_of(reply, length):
    lines = [f"HTTP/1.1 {reply.status} {reply.reason}"]
    lines += [f"{key}: {value}" for key, value in reply.without("connection", "content-length", "transfer-encoding")]
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode("latin-1")


async def send(writer, request, reply):
    """A reply in good form; to HEAD it keeps the length that the server named."""
    length = len(reply.body)
    if request.method == "HEAD":
        length = next((value for key, value in reply.headers if key.lower() == "content-length"), 0)
    writer.write(head_of(reply, length) + (b"" if request.method == "HEAD" else reply.body))
    await writer.drain()
