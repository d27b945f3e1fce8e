"""What the three listeners do alike: bodies, replies, faults, the log, and the controls for tests."""

import json
import os
import secrets
import socket
import time
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from state import HOP_HEADERS, HttpError


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "hub-standin"
    side = ""
    standin = None

    def log_message(self, *_):
        pass

    def read_body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return body
        length = self.headers.get("Content-Length")
        return self.rfile.read(int(length)) if length else b""

    def reply(self, status, body=b"", headers=None, content_type=None):
        if isinstance(body, (dict, list)):
            body, content_type = json.dumps(body).encode(), "application/json; charset=utf-8"
        kept = {"content-length"} if self.command == "HEAD" else set()
        headers = {k: v for k, v in (headers or {}).items() if k.lower() not in HOP_HEADERS - kept}
        rule = self.rule or {}
        if "flip" in rule and rule["flip"] < len(body):
            body = body[: rule["flip"]] + bytes([body[rule["flip"]] ^ 1]) + body[rule["flip"] + 1 :]
        self.status = status
        self.send_response(status)
        if content_type:
            self.send_header("Content-Type", content_type)
        for name, value in headers.items():
            self.send_header(name, value)
        if not any(k.lower() == "content-length" for k in headers):
            self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Request-Id", self.request_id)
        self.end_headers()
        if self.command != "HEAD":
            if "truncate" in rule:
                self.wfile.write(body[: rule["truncate"]])
                self.abort()
            else:
                self.wfile.write(body)

    def abort(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # close with a reset

    def handle_request(self):
        self.request_id = secrets.token_hex(8)
        self.status = 0
        self.rule = None
        standin = self.standin
        url = urlsplit(self.path)
        self.url_path, self.query = url.path, parse_qs(url.query, keep_blank_values=True)
        try:
            body = self.read_body()
            if self.url_path.startswith("/_standin/") and self.side == "hub":
                return self.control(body)
            self.rule = standin.fault(self.side, self.command, self.path)
            if not (self.rule and self.obey(self.rule, body)):
                self.serve(body)
        except HttpError as e:
            headers = dict(e.headers)
            if e.code:
                headers["X-Error-Code"] = e.code
            headers["X-Error-Message"] = e.message
            self.reply(e.status, {"error": e.message}, headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with standin.lock:
                standin.log.append(
                    {
                        "side": self.side,
                        "method": self.command,
                        "path": self.path,
                        "status": self.status,
                        "authorization": "Authorization" in self.headers,
                        "range": self.headers.get("Range"),
                        "length": self.headers.get("Content-Length"),
                    }
                )

    def obey(self, rule, body):
        """Carries out a fault that comes instead of the work. Returns whether it did."""
        time.sleep(rule.get("delay", 0))
        if rule.get("reset"):
            self.abort()
        elif rule.get("lost"):  # the work is done, the reply is lost
            with open(os.devnull, "wb") as nowhere:
                self.wfile, real = nowhere, self.wfile
                try:
                    self.serve(body)
                finally:
                    self.wfile = real
            self.abort()
        elif "status" in rule:
            self.reply(rule["status"], rule.get("body", "").encode(), rule.get("headers"))
        else:
            return False
        return True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_request

    def control(self, body):
        """For tests: GET /_standin/log, POST /_standin/faults (a JSON list of rules), GET the rest of it.

        A rule has `side` hub, cas or cdn, `method`, `path` (a regular expression over path and query), `skip` and
        `times` (1), and one of: `status` with `headers` and `body`; `delay` seconds; `reset`, before the work; `lost`,
        after it; `truncate`, a reset after so many bytes of the body; `flip`, a bit in this byte of it; `fail_path`, the
        file of a batch that fails."""
        standin = self.standin
        with standin.lock:
            if self.url_path == "/_standin/log":
                self.reply(200, standin.log)
            elif self.url_path == "/_standin/faults":
                if self.command == "POST":
                    standin.faults = json.loads(body)
                self.reply(200, standin.faults)
            else:
                self.reply(404)
