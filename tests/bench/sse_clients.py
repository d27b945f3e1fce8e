#!/usr/bin/env python3
"""How many browsers one daemon serves: streams of events, their latency, and what the server needs for them.

usage: sse_clients.py [--server build/release/bin/deltascope-echo-server] [--clients 200] [--rate 10] [--bytes 1024]
                      [--seconds 60] [--stalled 0]

The server publishes --rate events a second; every client gets all of them. Latency is from the making of an event to the
reading of it by this program, which needs a core of its own. Stalled clients are open and take nothing.
Goal: 200 clients, 10 events a second of 1 KiB, 60 s: p99 <= 100 ms, at most one core, RSS <= 300 MB.
"""

import argparse
import os
import re
import selectors
import socket
import subprocess
import sys
import time

MADE = re.compile(rb'"t_us":(\d+)')


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_rss_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1e3


def connect(port, cookie):
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode())
    return client


def sign_in(port, code):
    body = f'{{"code":"{code}"}}'
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall((f"POST /api/v1/session HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n"
                        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
        return re.search(r"Set-Cookie: ([^;]*)", client.recv(4096).decode())[1]


def listen(clients, seconds):
    """Latencies in milliseconds of all events that came within the time."""
    selector = selectors.DefaultSelector()
    for client in clients:
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ)
    latencies = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for key, _ in selector.select(0.1):
            data = key.fileobj.recv(1 << 16)
            if not data:
                sys.exit("the server closed a stream")
            now = time.monotonic_ns() // 1000
            latencies += [(now - int(made)) / 1000 for made in MADE.findall(data)]
    return sorted(latencies)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default="build/release/bin/deltascope-echo-server")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--rate", type=int, default=10)
    parser.add_argument("--bytes", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--stalled", type=int, default=0)
    words = parser.parse_args()
    server = subprocess.Popen([words.server, f"events={words.rate}", f"bytes={words.bytes}",
                               f"max_clients={words.clients + words.stalled + 10}",
                               f"max_of_client={words.clients + words.stalled + 10}", "write_ms=600000"],
                              stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
        cookie = sign_in(port, server.stdout.readline().strip().partition("#k=")[2])
        stalled = [connect(port, cookie) for _ in range(words.stalled)]
        clients = [connect(port, cookie) for _ in range(words.clients)]
        listen(clients, 1)
        before = cpu_seconds(server.pid)
        latencies = listen(clients, words.seconds)
        cpu = (cpu_seconds(server.pid) - before) / words.seconds
        expected = words.clients * words.rate * words.seconds
        print(f"{words.clients} clients ({len(stalled)} stalled besides), {words.rate} events/s of {words.bytes} bytes, "
              f"{words.seconds:g} s: {len(latencies)} events read ({100 * len(latencies) / expected:.1f} %), "
              f"p50 {latencies[len(latencies) // 2]:.1f} ms, p99 {latencies[len(latencies) * 99 // 100]:.1f} ms, "
              f"max {latencies[-1]:.1f} ms, {100 * cpu:.1f} % of a core, RSS {peak_rss_mb(server.pid):.1f} MB")
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
