#!/usr/bin/env python3
"""Clients as they come: large, slow, broken, many, gone. None of them may hurt the others."""

import gzip
import os
import socket
import stat
import tempfile
import threading
import unittest

from support import READ, Server, read_answer, request, wait_until

TOKEN = {"authorization": f"Bearer {READ}"}


class Clients(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def server(self, **options):
        server = Server(self.folder.name, tokens=True, **options)
        self.addCleanup(server.stop)
        return server

    def assert_lives(self, server):
        self.assertEqual(server.ask("GET", "api/v1/runs", **TOKEN).status, 200)

    def test_bodies_have_a_limit(self):
        server = self.server(body_limit=1000)
        ok = server.ask("POST", "api/v1/x", b"x" * 1000, **TOKEN)
        self.assertEqual((ok.status, len(ok.json()["body"])), (200, 1000))
        self.assertEqual(server.ask("POST", "api/v1/x", b"x" * 1001, **TOKEN).status, 413)
        self.assertEqual(server.ask("POST", "api/v1/x", b"x" * 300_000, **TOKEN).status, 413)
        chunks = b"".join(b"100\r\n" + b"x" * 256 + b"\r\n" for _ in range(10)) + b"0\r\n\r\n"
        chunked = server.ask("POST", "api/v1/x", chunks, content_length=None, transfer_encoding="chunked", **TOKEN)
        self.assertEqual(chunked.status, 413)
        self.assert_lives(server)

    def test_strangers_send_little(self):
        server = self.server()
        answer = server.ask("POST", "api/v1/session", b" " * 5000, origin=server.origin)
        self.assertEqual(answer.status, 413)
        self.assertEqual(server.ask("POST", "api/v1/x", b"x" * 60_000, origin=server.origin).status, 401)
        self.assertEqual(server.ask("POST", "api/v1/x", b"x" * 900_000, origin=server.origin).status, 413)
        self.assert_lives(server)

    def test_nonsense_gets_an_answer(self):
        server = self.server()
        sent = {
            b"GET / HTTP/1.1\r\nHost: localhost\r\nbroken header\r\n\r\n": 400,
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03": 400,
            b"GET  / HTTP/1.1\r\n\r\n": 400,
            b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n": 421,
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 40_000 + b"\r\n\r\n": 431,
            b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n": 400,
            b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n": 400,
            b"POST /api/v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n": 400,
            b"POST /api/v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n": 400,
            b"GET /..%2f..%2fetc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n": 400,
            b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n": 404,
            b"GET /assets/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n": 404,
        }
        for data, status in sent.items():
            with server.connect() as client:
                client.sendall(data)
                answer = read_answer(client)
                self.assertEqual(answer and answer.status, status, data[:80])
                self.assertEqual(answer.headers["content-type"], "application/problem+json")
                self.assertNotIn(b"root:", answer.body)
        self.assert_lives(server)

    def test_connections_stay_open_for_the_next_request(self):
        server = self.server()
        with server.connect() as client:
            for n in range(3):
                client.sendall(request(server, "POST", f"api/v1/{n}", b"{}", **TOKEN))
                self.assertEqual(read_answer(client).json()["path"], f"/api/v1/{n}")
            client.sendall(request(server, "HEAD", "api/v1/h", **TOKEN))
            head = read_answer(client, "HEAD")
            self.assertGreater(int(head.headers["content-length"]), 10)
            client.sendall(request(server, "GET", "api/v1/a", **TOKEN) + request(server, "GET", "api/v1/b", **TOKEN))
            file = client.makefile("rb")
            data = b""
            while b"/api/v1/b" not in data:
                data += file.read1(65536)
            self.assertLess(data.index(b"/api/v1/a"), data.index(b"/api/v1/b"))

    def test_unread_bodies_are_not_taken_for_requests(self):
        server = self.server()
        smuggled = request(server, "GET", "healthz")
        with server.connect() as client:
            client.sendall(request(server, "POST", "api/v1/x", smuggled, origin=server.origin))
            file = client.makefile("rb")
            self.assertEqual(file.read().count(b"HTTP/1.1"), 1)

    def test_answers_are_compressed_and_not_repeated(self):
        server = self.server()
        plain = server.ask("GET", "api/v1/x?bytes=5000&etag=e1", **TOKEN)
        self.assertEqual((plain.status, len(plain.body)), (200, 5000))
        zipped = server.ask("GET", "api/v1/x?bytes=5000&etag=e1", accept_encoding="gzip", **TOKEN)
        self.assertEqual((zipped.headers["content-encoding"], gzip.decompress(zipped.body)), ("gzip", b"x" * 5000))
        same = server.ask("GET", "api/v1/x?bytes=5000&etag=e1", if_none_match=zipped.headers["etag"], **TOKEN)
        self.assertEqual((same.status, same.body), (304, b""))

    def test_slow_heads_and_bodies_are_cut(self):
        server = self.server(head_ms=300, body_ms=300, idle_ms=300)
        whole = request(server, "POST", "api/v1/x", b"{}", **TOKEN)
        for sent in (b"", whole[:20], whole[:-1]):
            with server.connect() as client:
                client.sendall(sent)
                self.assertIsNone(read_answer(client), sent)

    def test_a_byte_at_a_time_is_cut(self):
        server = self.server(head_ms=500)
        cut = threading.Event()
        with server.connect() as client:

            def trickle():
                try:
                    for byte in request(server, "GET", "healthz", x_filler="y" * 10_000):
                        client.sendall(bytes([byte]))
                        if cut.wait(0.02):
                            return
                except OSError:
                    pass

            thread = threading.Thread(target=trickle)
            thread.start()
            try:
                self.assertIn(client.recv(100), (b"",))
            except ConnectionResetError:
                pass
            cut.set()
            thread.join()
        self.assert_lives(server)

    def test_clients_that_take_no_answer_are_cut(self):
        server = self.server(write_ms=300)
        before = server.descriptors()
        with server.connect() as client:
            client.sendall(request(server, "GET", "api/v1/x?bytes=50000000", **TOKEN))
            client.recv(1)
            self.assertEqual(server.descriptors(), before + 1)
            wait_until(lambda: server.descriptors() == before, "the client to be cut")
        self.assert_lives(server)

    def clients(self, server, count, source="127.0.0.1", send=b""):
        clients = [server.connect(source) for _ in range(count)]
        for client in clients:
            self.addCleanup(client.close)
            client.sendall(send)
        return clients

    def assert_closed(self, client):
        client.settimeout(5)
        try:
            self.assertEqual(client.recv(10), b"")
        except ConnectionResetError:
            pass

    def assert_open(self, client):
        client.setblocking(False)
        with self.assertRaises(BlockingIOError):
            client.recv(1)

    def waiting(self, server, count, source="127.0.0.1"):
        """Clients whose requests the server works on."""
        before = server.threads()
        clients = self.clients(server, count, source, request(server, "GET", "api/v1/x?slow_ms=1500", **TOKEN))
        wait_until(lambda: server.threads() >= before + count, "the requests to be read")
        return clients

    def test_many_idle_clients_keep_nobody_out(self):
        server = self.server(max_clients=20, idle_ms=60_000)
        idle = self.clients(server, 20)
        self.assertEqual(server.ask("GET", "healthz").status, 200)
        self.assert_closed(idle[0])
        self.assert_open(idle[1])
        idle += self.clients(server, 5)
        self.assertEqual(server.ask("GET", "healthz").status, 200)
        self.assert_closed(idle[4])
        self.assert_open(idle[-1])

    def test_half_a_head_is_no_request(self):
        server = self.server(max_clients=20, head_ms=60_000)
        slow = self.clients(server, 20, send=b"GET /healthz HTTP/1.1\r\nX: y")
        self.assertEqual(server.ask("GET", "healthz").status, 200)
        self.assert_closed(slow[0])
        self.assert_open(slow[5])

    def test_strangers_who_send_no_body_keep_nobody_out(self):
        server = self.server(max_clients=20, body_ms=60_000)
        head = request(server, "POST", "api/v1/session", origin=server.origin, content_length=100,
                       content_type="application/json")
        slow = self.clients(server, 20, send=head)
        self.assertEqual(server.ask("GET", "healthz").status, 200)
        self.assert_closed(slow[0])

    def test_who_waits_for_an_answer_is_not_put_out(self):
        server = self.server(max_clients=20)
        with server.events(**TOKEN):
            waiting = self.waiting(server, 19)
            self.assertEqual(server.ask("GET", "healthz").status, 503)
            for client in waiting:
                self.assertEqual(read_answer(client).status, 200)

    def test_one_address_has_a_limit_of_its_own(self):
        server = self.server(max_of_client=5)
        idle = self.clients(server, 5)
        other = server.connect("127.0.0.2")
        self.addCleanup(other.close)
        self.assertEqual(server.ask("GET", "healthz").status, 200)
        self.assert_closed(idle[0])
        self.assert_open(other)
        waiting = self.waiting(server, 5)
        self.assertEqual(server.ask("GET", "healthz").status, 503)
        self.assertEqual(server.ask("GET", "healthz", source="127.0.0.2").status, 200)
        for client in waiting:
            self.assertEqual(read_answer(client).status, 200)

    def test_closed_connections_and_streams_do_not_count(self):
        server = self.server(max_of_client=5)
        for _ in range(20):
            with server.events(**TOKEN) as events:
                self.assertEqual(events.answer.status, 200)
        wait_until(lambda: server.ask("GET", "healthz").status == 200, "the streams to be forgotten")

    def test_proxies_and_the_socket_have_no_limit_of_an_address(self):
        path = os.path.join(self.folder.name, "socket")
        near = self.server(max_of_client=5, auth_proxy="X-User", unix=path)
        self.waiting(near, 8)
        self.assert_lives(near)
        for _ in range(8):
            client = socket.socket(socket.AF_UNIX)
            self.addCleanup(client.close)
            client.connect(path)
            client.sendall(request(near, "GET", "api/v1/x?slow_ms=500", **TOKEN))
        self.assertEqual(read_answer(client).status, 200)
        far = self.server(max_of_client=5, auth_proxy="X-User", auth_proxy_from="127.0.0.2")
        self.waiting(far, 8, "127.0.0.2")
        self.assertEqual(far.ask("GET", "healthz", source="127.0.0.2").status, 200)
        self.waiting(far, 5)
        self.assertEqual(far.ask("GET", "healthz").status, 503)

    def test_unknown_transfer_codings_are_refused_and_nothing_behind_them_is_read(self):
        server = self.server()
        for coding in ("gzip", "gzip, chunked", "identity", "chunked, gzip"):
            with server.connect() as client:
                smuggled = request(server, "GET", "healthz")
                client.sendall(request(server, "POST", "api/v1/x", transfer_encoding=coding, **TOKEN) + smuggled)
                said = client.makefile("rb").read()
                self.assertTrue(said.startswith(b"HTTP/1.1 501 "), said[:60])
                self.assertEqual(said.count(b"HTTP/1.1"), 1, coding)
        self.assert_lives(server)

    def test_clients_that_go_while_they_wait_are_forgotten(self):
        server = self.server()
        before = server.descriptors()
        for _ in range(20):
            with server.connect() as client:
                client.sendall(request(server, "GET", "api/v1/x?slow_ms=200", **TOKEN))
        self.assertEqual(server.ask("GET", "api/v1/x?slow_ms=400", **TOKEN).status, 200)
        wait_until(lambda: server.descriptors() == before, "the connections to be closed")

    def test_answers_come_while_others_wait(self):
        server = self.server()
        with server.connect() as waiting:
            waiting.sendall(request(server, "GET", "api/v1/x?slow_ms=1500", **TOKEN))
            self.assert_lives(server)
            waiting.setblocking(False)
            with self.assertRaises(BlockingIOError):
                waiting.recv(1)

    def test_stopping_lets_an_answer_finish(self):
        server = self.server()
        with server.connect() as client:
            client.sendall(request(server, "GET", "api/v1/x?slow_ms=200", **TOKEN))
            self.assert_lives(server)
            server.stop()
            self.assertEqual(read_answer(client).status, 200)

    def test_stopping_does_not_wait_for_slow_answers(self):
        server = self.server()
        with server.connect() as client:
            client.sendall(request(server, "GET", "api/v1/x?slow_ms=3000", **TOKEN))
            self.assert_lives(server)
            server.process.terminate()
            self.assertIsNone(read_answer(client))

    def test_unix_sockets_belong_to_their_owner(self):
        path = os.path.join(self.folder.name, "socket")
        server = self.server(unix=path, listen="")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            client.sendall(request(server, "GET", "api/v1/x", host="localhost", **TOKEN))
            self.assertEqual(read_answer(client).status, 200)
        server.stop()
        self.assertFalse(os.path.exists(path))

    def test_a_dead_socket_is_replaced_and_a_living_one_is_not(self):
        path = os.path.join(self.folder.name, "socket")
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(path)
        self.server(unix=path, listen="")
        with self.assertRaisesRegex(RuntimeError, "DS-EXISTS"):
            self.server(unix=path, listen="")
        file = os.path.join(self.folder.name, "file")
        with open(file, "w", encoding="utf-8"):
            pass
        with self.assertRaisesRegex(RuntimeError, "DS-EXISTS"):
            self.server(unix=file, listen="")
        self.assertTrue(os.path.isfile(file))


class Secrets(unittest.TestCase):
    def test_none_is_printed_or_written(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder, tokens=True, acts=1)
            cookie = server.session()
            secrets = [READ, server.code, cookie.split("=")[1], "wrong-canary-0123456789"]
            answers = [
                server.ask("GET", "api/v1/runs", **TOKEN),
                server.ask("GET", "api/v1/runs", authorization="Bearer wrong-canary-0123456789"),
                server.ask("POST", "api/v1/session", '{"code":"wrong-canary-0123456789"}', origin=server.origin),
                server.ask("POST", "api/v1/session", '{"code":"%s"}' % server.code, origin=server.origin),
                server.ask("GET", "api/v1/runs", cookie=cookie),
                server.ask("GET", "metrics", cookie=cookie),
                server.ask("GET", "nothing.txt", cookie=cookie, **TOKEN),
            ]
            _, printed = server.stop()
            for secret in secrets:
                self.assertNotIn(secret, printed)
                for answer in answers:
                    self.assertNotIn(secret, repr(answer.headers) + answer.body.decode())
            self.assertEqual(os.listdir(folder), ["tokens"])


if __name__ == "__main__":
    unittest.main()
