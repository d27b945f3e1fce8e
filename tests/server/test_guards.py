#!/usr/bin/env python3
"""Who is let in: names, origins, tokens, scopes, sizes. Every cell of the matrices is asked over a real socket."""

import itertools
import json
import subprocess
import tempfile
import unittest

from support import ACT, ADMIN, PROGRAM, READ, Server


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

    def test_guessing_ends_after_five(self):
        with tempfile.TemporaryDirectory() as folder, Server(folder, tokens=True) as server:
            cookie = server.session(READ)
            for _ in range(5):
                self.assertEqual(server.ask("GET", "api/v1/runs", authorization="Bearer guess").status, 401)
            locked = server.ask("GET", "api/v1/runs", authorization=f"Bearer {READ}")
            self.assertEqual((locked.status, locked.headers["retry-after"]), (429, "60"))
            body = json.dumps({"code": server.code})
            self.assertEqual(server.ask("POST", "api/v1/session", body, origin=server.origin).status, 429)
            self.assertEqual(server.ask("GET", "api/v1/runs", cookie=cookie).status, 200)

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

    def test_an_open_address_needs_tokens(self):
        self.assertIn("DS-USAGE", self.refused("listen=0.0.0.0:0"))
        self.assertIn("DS-USAGE", self.refused("listen=[::]:0"))
        with tempfile.TemporaryDirectory() as folder, Server(folder, tokens=True, listen="0.0.0.0:0") as server:
            self.assertEqual(server.ask("GET", "api/v1/runs", authorization=f"Bearer {READ}").status, 200)

    def test_nonsense_is_refused(self):
        for words in (["listen=nonsense"], ["listen=127.0.0.1:99999"], ["listen=::1:80"], ["base=/a b"], ["listen="],
                      ["allow_embed=https://a.b/c"], ["token_file=/nowhere"]):
            self.assertRegex(self.refused(*words), "DS-(USAGE|NOT-FOUND)")

    def test_a_taken_port_is_named(self):
        with Server() as server:
            self.assertIn("DS-EXISTS", self.refused(f"listen=127.0.0.1:{server.port}"))


if __name__ == "__main__":
    unittest.main()
