"""The Xet CAS API and the signed URLs of the CDN, in front of local_cas_server."""

import json
import re
import struct
import time
from urllib.parse import parse_qs, quote, urlsplit

import shard_check
from handler import Handler
from state import HttpError


class CasHandler(Handler):
    side = "cas"

    def serve(self, body):
        standin = self.standin
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        with standin.lock:
            scope, expiry = standin.tokens.get(token, (None, 0))
        if scope is None or expiry < time.time():
            raise HttpError(401, "Unauthorized: not a valid xet token")
        if self.command == "POST" and scope != "write" and not self.url_path.endswith("/telemetry"):
            raise HttpError(403, "Forbidden: read token")
        kind = self.url_path.strip("/").split("/")[1] if self.url_path.count("/") > 1 else ""
        if self.command == "POST" and kind == "xorb-grants" and not standin.options.grants:
            raise HttpError(404, "no upload grants")
        if self.command == "POST" and kind == "shards":
            try:
                with standin.lock:
                    standin.xorbs.update(shard_check.check_shard(body, standin.xorbs, standin.uploaded.__contains__))
            except (shard_check.ShardError, struct.error) as e:
                raise HttpError(400, f"bad shard: {e}") from None
        status, headers, reply = standin.forward(self.command, self.path, body, dict(self.headers))
        status, reply = self.as_documented(kind, status, reply)
        if status == 200 and kind == "reconstructions":
            reply = self.signed_reconstruction(json.loads(reply))
        if status == 201 and kind == "xorb-grants":
            data = json.loads(reply)
            data["url"] = standin.sign(urlsplit(data["url"]).path, {"xorb": self.url_path.split("/")[-1]})
            reply = json.dumps(data).encode()
        self.reply(status, reply, headers)

    def as_documented(self, kind, status, reply):
        """Where local_cas_server answers otherwise than the documented API."""
        xorb = self.url_path.split("/")[4] if kind.startswith("xorb") and self.url_path.count("/") > 3 else ""
        if self.command == "POST" and xorb and status == 500:
            return 400, reply
        if self.command == "POST" and xorb and status == 200:
            with self.standin.lock:
                known = xorb in self.standin.uploaded
                self.standin.uploaded.add(xorb)
            return 200, json.dumps({"was_inserted": not known}).encode() if kind == "xorbs" else reply
        if kind == "reconstructions" and status == 416 and self.standin.file_size(self.url_path.split("/")[3]) is None:
            return 404, b"File not found"
        return status, reply

    def signed_reconstruction(self, data):
        for fetches in data.get("fetch_info", {}).values():
            for one in fetches:
                one["url"] = self.sign_term(one["url"], [one["url_range"]])
        for fetches in data.get("xorbs", {}).values():
            for one in fetches:
                one["url"] = self.sign_term(one["url"], [r["bytes"] for r in one["ranges"]])
        return json.dumps(data).encode()

    def sign_term(self, url, ranges):
        parts = urlsplit(url)
        query = {k: v[0] for k, v in parse_qs(parts.query).items()}
        return self.standin.sign(parts.path, query, [(r["start"], r["end"]) for r in ranges])


class CdnHandler(Handler):
    side = "cdn"

    def serve(self, body):
        standin = self.standin
        if "Authorization" in self.headers:
            raise HttpError(400, "Only one auth mechanism allowed: signed URL with an Authorization header")
        query = standin.check_signature(self.url_path, self.query)
        if self.url_path.startswith("/file/") and self.command in ("GET", "HEAD"):
            return self.file(self.url_path.split("/")[2], query)
        if self.url_path == "/v1/fetch_term" and self.command == "GET":
            return self.term(query)
        if self.url_path.startswith("/simulation/xorb-uploads/") and self.command == "PUT":
            return self.reply_of(standin.forward("PUT", self.url_path, body, dict(self.headers)))
        raise HttpError(404, "NoSuchKey")

    def reply_of(self, answer):
        status, headers, reply = answer
        self.reply(status, reply, headers)

    def term(self, query):
        """Ranges of a xorb: exactly those that were signed."""
        given = self.headers.get("Range", "").removeprefix("bytes=").replace(" ", "")
        allowed = query["ranges"].split(",")
        if not given or any(one not in allowed for one in given.split(",")):
            raise HttpError(403, f"AccessDenied: Range {given!r} was not signed")
        # without a Range header the CAS server sends all ranges of the term as multipart/byteranges
        one_range = {} if "," in given else {"Range": "bytes=" + given}
        status, headers, reply = self.standin.forward("GET", f"/v1/fetch_term?term={query['term']}", None, one_range)
        if status in (200, 206):
            status = 206
            if one_range:
                headers["Content-Range"] = f"bytes {given}/*"
        self.reply(status, reply, headers)

    def file(self, xet_hash, query):
        """Plain bytes of a file, with single ranges."""
        standin = self.standin
        size = standin.file_size(xet_hash)
        disposition = "inline; filename*=UTF-8''" + quote(query["name"])
        headers = {"ETag": f'"{xet_hash}"', "Accept-Ranges": "bytes", "Content-Disposition": disposition}
        first, last, status = 0, size - 1, 200
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if asked and asked.group(0) != "bytes=-":
            a, b = asked.groups()
            first, last = (int(a), min(int(b or last), last)) if a else (max(0, size - int(b)), last)
            if first > last:
                return self.reply(416, b"", {"Content-Range": f"bytes */{size}"})
            status = 206
            headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        data = b""
        if size and self.command == "GET":
            target, wanted = f"/v1/get_xorb/default/{xet_hash}/", {"Range": f"bytes={first}-{last}"}
            code, _, data = standin.forward("GET", target, None, wanted)
            if code != 200:
                raise HttpError(502, data.decode(errors="replace"))
        if self.command == "HEAD":
            headers["Content-Length"] = str(last - first + 1)
        self.reply(status, data, headers, query["type"])
