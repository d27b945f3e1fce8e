"""What the three listeners of the stand-in share: buckets, tokens, signed URLs, faults, and the CAS server behind them."""

import hashlib
import hmac
import http.client
import re
import secrets
import threading
import time
from datetime import datetime, timezone
from urllib.parse import urlencode, urlsplit

ZERO_HASH = "0" * 64
HEX64 = re.compile(r"[0-9a-f]{64}")
HOP_HEADERS = {"connection", "content-length", "date", "host", "keep-alive", "server", "transfer-encoding"}


def iso(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_iso(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def is_path(path):
    """What a file may be called: the rules that the Hub's S3 gateway states for keys."""
    if not isinstance(path, str) or not path or path.startswith(("/", "./")) or path.endswith("/"):
        return False
    return not any(bad in path for bad in ("//", "\\", "\0")) and ".." not in path.split("/")


class HttpError(Exception):
    """An HTTP error reply in the Hub's form."""

    def __init__(self, status, message, code=None, headers=None):
        super().__init__(message)
        self.status, self.message, self.code, self.headers = status, message, code, headers or {}


class Bucket:
    """One bucket: a flat table of files and the log of its changes."""

    def __init__(self, bucket_id, private):
        self.id, self.private = bucket_id, private
        self.created = self.updated = time.time()
        self.files = {}  # path -> {size, xetHash, mtime, uploadedAt, contentType}
        self.changes = []  # [(sequence, time, change)]
        self.sequence = 0

    def info(self):
        return {
            "id": self.id,
            "private": self.private,
            "visibility": "private" if self.private else "public",
            "createdAt": iso(self.created),
            "updatedAt": iso(self.updated),
            "size": sum(f["size"] for f in self.files.values()),
            "totalFiles": len(self.files),
        }

    def record(self, change):
        self.sequence += 1
        self.updated = int(time.time() * 1000) / 1000  # as exact as its text, so that ?since=updatedAt repeats nothing
        self.changes.append((self.sequence, self.updated, change))

    def entry(self, path):
        f = self.files[path]
        entry = {"type": "file", "path": path, "size": f["size"], "xetHash": f["xetHash"]}
        entry["uploadedAt"] = iso(f["uploadedAt"])
        if f["mtime"] is not None:
            entry["mtime"] = iso(f["mtime"] / 1000)
        return entry


class Standin:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Condition()
        self.buckets = {}
        self.tokens = {}  # xet token -> (scope, expiry)
        self.secret = secrets.token_bytes(16)
        self.faults = []
        self.log = []
        self.xorbs = {}  # xorb hash -> chunk list, from accepted shards
        self.uploaded = set()  # xorb hashes
        self.hub = self.cas = self.cdn = ""  # base URLs
        self.upstream = urlsplit(options.upstream)

    def fault(self, side, method, target):
        """The first rule that is due for a request, or None. A rule goes away when it is used up."""
        with self.lock:
            for rule in self.faults:
                if (rule.get("side", side), rule.get("method", method)) != (side, method):
                    continue
                if not re.search(rule.get("path", ""), target):
                    continue
                if rule.get("skip", 0) > 0:
                    rule["skip"] -= 1
                    continue
                rule["times"] = rule.get("times", 1) - 1
                if rule["times"] <= 0:
                    self.faults.remove(rule)
                return rule
        return None

    def sign(self, path, query, ranges=None):
        query = dict(query, Expires=str(int(time.time() + self.options.url_life)))
        if ranges:
            query["ranges"] = ",".join(f"{a}-{b}" for a, b in ranges)
        text = path + "?" + urlencode(sorted(query.items()))
        query["Signature"] = hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()[:32]
        return f"{self.cdn}{path}?{urlencode(query)}"

    def check_signature(self, path, query):
        query = {k: v[0] for k, v in query.items()}
        given = query.pop("Signature", "")
        text = path + "?" + urlencode(sorted(query.items()))
        good = hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()[:32]
        if not hmac.compare_digest(given, good) or float(query.get("Expires", 0)) < time.time():
            raise HttpError(403, "AccessDenied: bad or expired signature")
        return query

    def forward(self, method, target, body=None, headers=None):
        """One request to the CAS server; it builds its URLs from the Host header, so name the cdn listener there."""
        connection = http.client.HTTPConnection(self.upstream.hostname, self.upstream.port, timeout=300)
        try:
            headers = {k: v for k, v in (headers or {}).items() if k.lower() not in HOP_HEADERS | {"authorization"}}
            headers["Host"] = urlsplit(self.cdn).netloc
            connection.request(method, target, body=body, headers=headers)
            reply = connection.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read()
        finally:
            connection.close()

    def file_size(self, xet_hash):
        """Size of a file known to the CAS, or None."""
        if xet_hash == ZERO_HASH:
            return 0
        status, headers, _ = self.forward("HEAD", f"/v1/files/{xet_hash}")
        lengths = [v for k, v in headers.items() if k.lower() == "content-length"]
        return int(lengths[0]) if status == 200 and lengths else None

    def bucket(self, bucket_id):
        if bucket_id not in self.buckets:
            raise HttpError(404, "Repository not found", "RepoNotFound")
        return self.buckets[bucket_id]

    def operation(self, bucket, op):
        """Carries out one line of a batch; returns an error text or None."""
        kind, path = op.get("type"), op.get("path")
        if not is_path(path):
            return "Invalid path"
        if kind == "deleteFile":
            if bucket.files.pop(path, None) is None:
                return "File not found"
            bucket.record({"path": path, "op": "delete"})
            return None
        if kind not in ("addFile", "copyFile"):
            return f"Unknown operation {kind!r}"
        xet_hash = op.get("xetHash", "")
        if not HEX64.fullmatch(xet_hash):
            return "Invalid xetHash"
        if kind == "copyFile" and op.get("sourceRepoType") == "bucket":
            if all(f["xetHash"] != xet_hash for f in self.bucket(op.get("sourceRepoId")).files.values()):
                return "Source file not found"
        size = self.file_size(xet_hash)
        if size is None:
            return "File content not found in Xet storage"
        now = time.time()
        known = path in bucket.files
        bucket.files[path] = {
            "size": size,
            "xetHash": xet_hash,
            "mtime": op.get("mtime"),
            "uploadedAt": now,
            "contentType": op.get("contentType"),
        }
        entry = bucket.entry(path)
        entry.pop("type")
        bucket.record(entry | {"op": "update" if known else "add"})
        return None
