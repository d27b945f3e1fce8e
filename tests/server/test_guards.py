#!/usr/bin/env python3
"""Who is let in: names, origins, tokens, scopes, sizes. Every cell of the matrices is asked over a real socket."""

import itertools
import json
import os
import socket
import ssl
import subprocess
import tempfile
import unittest
import warnings

from support import ACT, ADMIN, PROGRAM, READ, Server, request, read_answer, write_private


class Matrix(unittest.TestCase):
    """Host x Origin x site x credentials x method, each with the answer that the rules give."""

    def test_every_cell(self):
        with tempfile.TemporaryDirectory() as folder, Server(folder, tokens=True, acts=1, allow_host="box.example.org") as server:
            cookie = server.session(ACT)
            hosts = {server.host: True, f"localhost:{server.port}": True, "box.example.org": True, "evil.example": False,
                     "localhost.evil.example": False, None: False}
            origins = [None, "same", "http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}"]
            sites = [None, "same-origin", "none", "same-site", "cross-site"]
            who = {"nobody": {}, "token": {"authorization": f"Bearer {READ}"}, "cookie": {"cookie": cookie},
                   "old cookie": {"cookie": cookie[:-1] + "x"}}
            methods = ["GET", "HEAD", "POST", "PUT", "DELETE"]
            cells = unauthenticated_writes = 0
            for (host, known), origin, site, (name, headers), method in itertools.product(
                    hosts.items(), origins, sites, who.items(), methods):
                sent = f"http://{host}" if origin == "same" else origin
                answer = server.ask(method, "api/v1/runs", b"{}" if method == "POST" else None, host=host, origin=sent,
                                    sec_fetch_site=site, **headers)
                expected = self.expected(known, origin, site, name, method)
                self.assertEqual(answer.status, expected, (host, sent, site, name, method, answer))
                self.assertNotIn("access-control-allow-origin", answer.headers)
                self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
                self.assertIn("frame-ancestors 'none'", answer.headers["content-security-policy"])
                cells += 1
                unauthenticated_writes += method == "POST" and answer.status == 200 and name in ("nobody", "old cookie")
            self.assertEqual(unauthenticated_writes, 0)
            print(f"{cells} cells", flush=True)

    @staticmethod
    def expected(known, origin, site, name, method):
        writes = method not in ("GET", "HEAD")
        if not known:
            return 421
        if site in ("same-site", "cross-site"):
            return 403
        if writes and origin not in (None, "same"):
            return 403
        if writes and origin is None and name in ("cookie", "old cookie"):
            return 403
        if name in ("nobody", "old cookie"):
            return 401
        return 405 if method in ("PUT", "DELETE") else 200


class Scopes(unittest.TestCase):
    def scope(self, server, **headers):
        return server.ask("GET", "api/v1/runs", **headers).json()["scope"]

    def test_tokens_carry_their_scope_where_acts_are_on(self):
        with tempfile.TemporaryDirectory() as folder, Server(folder, tokens=True, acts=1) as server:
            for token, scope in ((READ, 0), (ACT, 1), (ADMIN, 2)):
                self.assertEqual(self.scope(server, authorization=f"Bearer {token}"), scope)
            self.assertEqual(self.scope(server, cookie=server.session()), 1)

    def test_nobody_acts_where_acts_are_off(self):
        with tempfile.TemporaryDirectory() as folder, Server(folder, tokens=True) as server:
            for token in (READ, ACT, ADMIN):
                self.assertEqual(self.scope(server, authorization=f"Bearer {token}"), 0)
            self.assertEqual(self.scope(server, cookie=server.session()), 0)

    def test_a_proxy_names_its_users(self):
        with Server(auth_proxy="X-Forwarded-User", acts=1) as server:
            answer = server.ask("GET", "api/v1/runs", x_forwarded_user="kim@example.org")
            self.assertEqual((answer.json()["principal"], answer.json()["scope"]), ("kim@example.org", 1))
            self.assertEqual(server.ask("GET", "api/v1/runs").status, 401)
            self.assertEqual(server.ask("GET", "api/v1/runs", x_forwarded_user="<script>").status, 401)

    def test_a_proxy_from_elsewhere_names_nobody(self):
        with Server(auth_proxy="X-Forwarded-User", auth_proxy_from="127.0.0.2/32") as server:
            self.assertEqual(server.ask("GET", "api/v1/runs", x_forwarded_user="kim").status, 401)
            self.assertEqual(server.ask("GET", "api/v1/runs", x_forwarded_user="kim", source="127.0.0.2").status, 200)

    def test_an_unasked_proxy_header_means_nothing(self):
        with Server() as server:
            self.assertEqual(server.ask("GET", "api/v1/runs", x_forwarded_user="kim").status, 401)


class SigningIn(unittest.TestCase):
    def test_the_code_works_once(self):
        with Server(base="/ds") as server:
            body = json.dumps({"code": server.code})
            first = server.ask("POST", "api/v1/session", body, origin=server.origin)
            self.assertEqual(first.status, 204)
            attributes = first.headers["set-cookie"].split("; ")[1:]
            self.assertEqual(set(attributes), {"Path=/ds/", "HttpOnly", "SameSite=Strict", "Max-Age=2592000"})
            cookie = first.headers["set-cookie"].split(";")[0]
            self.assertEqual(server.ask("GET", "api/v1/runs", cookie=cookie).json()["principal"], "local")
            self.assertEqual(server.ask("POST", "api/v1/session", body, origin=server.origin).status, 401)
            self.assertEqual(server.ask("DELETE", "api/v1/session", cookie=cookie, origin=server.origin).status, 204)
            self.assertEqual(server.ask("GET", "api/v1/runs", cookie=cookie).status, 401)

    def guess(self, server, **headers):
        return server.ask("GET", "api/v1/runs", authorization="Bearer guess", **headers)

    def test_who_guesses_waits(self):
        with tempfile.TemporaryDirectory() as folder, Server(folder, tokens=True) as server:
            cookie = server.session(READ)
            self.assertEqual(self.guess(server).status, 401)
            locked = server.ask("GET", "api/v1/runs", authorization=f"Bearer {ACT}")
            self.assertEqual((locked.status, locked.headers["retry-after"]), (429, "1"))
            self.assertIn("Wait 1 s", locked.body.decode())
            body = json.dumps({"code": server.code})
            self.assertEqual(server.ask("POST", "api/v1/session", body, origin=server.origin).status, 429)
            self.assertEqual(server.ask("GET", "api/v1/runs", cookie=cookie).status, 200)
            self.assertEqual(server.ask("GET", "api/v1/runs", authorization=f"Bearer {READ}").status, 200)
            self.assertEqual(server.ask("GET", "api/v1/runs", authorization=f"Bearer {ACT}", source="127.0.0.2").status, 200)

    def test_behind_a_proxy_each_user_and_each_address_guesses_alone(self):
        with tempfile.TemporaryDirectory() as folder, Server(folder, tokens=True, auth_proxy="X-User") as server:
            ask = lambda **who: server.ask("GET", "api/v1/runs", authorization=f"Bearer {ACT}", **who).status
            self.assertEqual(self.guess(server, x_user="kim", x_forwarded_for="203.0.113.1").status, 401)
            self.assertEqual(self.guess(server, x_forwarded_for="203.0.113.2").status, 401)
            self.assertEqual(ask(x_user="kim", x_forwarded_for="203.0.113.5"), 429)
            self.assertEqual(ask(x_forwarded_for="198.51.100.1, 203.0.113.2"), 429)
            self.assertEqual(ask(x_user="lee", x_forwarded_for="203.0.113.1"), 200)

    def test_a_stranger_cannot_lay_failures_on_others(self):
        with tempfile.TemporaryDirectory() as folder, Server(
                folder, tokens=True, auth_proxy="X-User", auth_proxy_from="127.0.0.2") as server:
            self.assertEqual(self.guess(server, x_user="kim", x_forwarded_for="203.0.113.1").status, 401)
            self.assertEqual(self.guess(server, source="127.0.0.2", x_user="kim").status, 401)
            self.assertEqual(self.guess(server, source="127.0.0.2", x_forwarded_for="203.0.113.1").status, 401)
            self.assertEqual(self.guess(server).status, 429)

    def test_metrics_need_a_reader_and_health_does_not(self):
        with tempfile.TemporaryDirectory() as folder, Server(folder, tokens=True) as server:
            self.assertEqual(server.ask("GET", "metrics").status, 401)
            self.assertIn(b"deltascope_echo 1", server.ask("GET", "metrics", authorization=f"Bearer {READ}").body)
            self.assertEqual(server.ask("GET", "healthz").status, 200)
            self.assertEqual(server.ask("GET", "readyz").status, 200)
            self.assertEqual(server.ask("GET", "openapi.json").json()["openapi"][:2], "3.")


class Starting(unittest.TestCase):
    def refused(self, *words):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=20, check=False)
        self.assertNotEqual(done.returncode, 0, words)
        return done.stderr

    def test_an_open_address_needs_tokens_and_tls(self):
        self.assertIn("DS-USAGE", self.refused("listen=0.0.0.0:0"))
        self.assertIn("DS-USAGE", self.refused("listen=[::]:0"))
        with tempfile.TemporaryDirectory() as folder:
            write_private(f"{folder}/tokens", f"reader read {READ}\n")
            self.assertIn("clear text", self.refused("listen=0.0.0.0:0", f"token_file={folder}/tokens"))
            with Server(folder, tokens=True, listen="0.0.0.0:0", insecure_http=1) as server:
                self.assertEqual(server.ask("GET", "api/v1/runs", authorization=f"Bearer {READ}").status, 200)

    def test_the_printed_address_is_one_to_go_to(self):
        with tempfile.TemporaryDirectory() as folder:
            everywhere = {"tokens": True, "listen": "0.0.0.0:0", "insecure_http": 1}
            with Server(folder, **everywhere) as server:
                self.assertEqual(server.url, f"http://localhost:{server.port}/")
            with Server(folder, allow_host="box.example.org", **everywhere) as server:
                self.assertEqual(server.url, f"http://box.example.org:{server.port}/")
                self.assertEqual(server.ask("GET", "healthz", host=f"box.example.org:{server.port}").status, 200)

    def test_who_else_reads_or_writes_the_token_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/tokens"
            for mode in (0o620, 0o602, 0o666):
                write_private(path, f"reader read {READ}\n", mode)
                self.assertIn("others can write the token file", self.refused(f"token_file={path}"))
            for mode, warned in ((0o600, False), (0o640, True), (0o604, True)):
                write_private(path, f"reader read {READ}\n", mode)
                server = Server(token_file=path)
                self.assertEqual("others can read the token file" in server.stop()[1], warned, oct(mode))

    def test_nonsense_is_refused(self):
        for words in (["listen=nonsense"], ["listen=127.0.0.1:99999"], ["listen=::1:80"], ["base=/a b"], ["listen="],
                      ["allow_embed=https://a.b/c"], ["token_file=/nowhere"], ["tls_cert=/nowhere"],
                      ["tls_cert=/nowhere", "tls_key=/nowhere"], ["auth_proxy_from=10.0.0.0/8"],
                      ["auth_proxy=X", "auth_proxy_from=10.0.0.0/40"]):
            self.assertRegex(self.refused(*words), "DS-(USAGE|NOT-FOUND)")

    def test_a_taken_port_is_named(self):
        with Server() as server:
            self.assertIn("DS-EXISTS", self.refused(f"listen=127.0.0.1:{server.port}"))


class Tls(unittest.TestCase):
    """HTTPS with a fresh certificate."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.files = [f"{self.folder}/{name}.pem" for name in ("cert", "key", "other")]
        for certificate, key in ((self.files[0], self.files[1]), (f"{self.folder}/unused.pem", self.files[2])):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-keyout", key, "-out", certificate, "-subj", "/CN=test", "-addext",
                            "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        self.options = {"tls_cert": self.files[0], "tls_key": self.files[1]}
        self.client = ssl.create_default_context(cafile=self.files[0])

    def wrapped(self, server, context=None):
        return (context or self.client).wrap_socket(server.connect(), server_hostname="127.0.0.1")

    def ask(self, server, *words, **headers):
        with self.wrapped(server) as client:
            client.sendall(request(server, *words, **headers))
            return read_answer(client)

    def test_speaks_https_and_nothing_else(self):
        with Server(self.folder, tokens=True, **self.options) as server:
            self.assertTrue(server.url.startswith("https://127.0.0.1:"))
            for _ in range(3):
                self.assertEqual(self.ask(server, "GET", "healthz").status, 200)
            body = json.dumps({"code": server.code})
            signed = self.ask(server, "POST", "api/v1/session", body, origin=f"https://{server.host}")
            self.assertIn("; Secure", signed.headers["set-cookie"])
            with server.connect() as client:
                client.sendall(request(server, "GET", "healthz"))
                try:
                    self.assertNotIn(b"HTTP/1.1 200", client.recv(100))
                except ConnectionResetError:
                    pass
            old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
            old.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
            with self.assertRaises(OSError):
                self.wrapped(server, old)

    def test_answers_end_properly_and_many_may_follow(self):
        with Server(self.folder, tokens=True, **self.options) as server:
            with self.wrapped(server) as client:
                for n in (10, 5_000_000):
                    client.sendall(request(server, "GET", f"api/v1/x?bytes={n}", authorization=f"Bearer {READ}"))
                    self.assertEqual(len(read_answer(client).body), n)
                client.sendall(request(server, "GET", "healthz", connection="close"))
                client.suppress_ragged_eofs = False  # then an end without close_notify is an error
                self.assertTrue(client.makefile("rb").read().endswith(b"ok\n"))

    def test_the_unix_socket_needs_no_tls(self):
        path = f"{self.folder}/socket"
        with Server(self.folder, tokens=True, unix=path, **self.options) as server, socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            client.sendall(request(server, "GET", "healthz"))
            self.assertEqual(read_answer(client).status, 200)

    def test_events_come_over_tls(self):
        with Server(self.folder, tokens=True, events=50, **self.options) as server, self.wrapped(server) as client:
            client.sendall(request(server, "GET", "api/v1/events", authorization=f"Bearer {READ}"))
            seen = b""
            while seen.count(b"event: tick") < 20:
                seen += client.recv(65536)

    def test_connections_without_a_handshake_keep_nobody_out(self):
        with Server(self.folder, tokens=True, max_of_client=5, **self.options) as server:
            idle = [server.connect() for _ in range(5)]
            self.assertEqual(self.ask(server, "GET", "healthz").status, 200)
            for client in idle:
                client.close()

    def test_an_open_address_may_speak_https(self):
        with Server(self.folder, tokens=True, listen="0.0.0.0:0", **self.options) as server:
            self.assertEqual(self.ask(server, "GET", "healthz").status, 200)

    def test_files_that_do_not_serve_are_named(self):
        refused = lambda *words: subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=20).stderr
        cert, key, other = self.files
        self.assertIn("DS-USAGE", refused(f"tls_cert={cert}"))
        self.assertIn("certificate", refused(f"tls_cert={cert}", f"tls_key={other}"))
        self.assertIn("DS-USAGE", refused(f"tls_cert={key}", f"tls_key={key}"))
        os.chmod(key, 0o620)
        self.assertIn("others can write", refused(f"tls_cert={cert}", f"tls_key={key}"))
        os.chmod(key, 0o644)
        server = Server(**self.options)
        self.assertIn("others can read the key of the certificate", server.stop()[1])


if __name__ == "__main__":
    unittest.main()
