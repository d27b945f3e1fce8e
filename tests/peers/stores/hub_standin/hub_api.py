"""The Hub's own API: buckets, their trees, batches, tokens, and where a file is read."""

import json
import secrets
import time
from datetime import datetime, timezone
from email.utils import format_datetime
from urllib.parse import unquote, urlencode

import change_feed
from handler import Handler
from state import Bucket, HttpError


class HubHandler(Handler):
    side = "hub"

    def serve(self, body):
        standin = self.standin
        if self.headers.get("Authorization") != f"Bearer {standin.options.token}":
            raise HttpError(401, "Invalid credentials in Authorization header")
        parts = [unquote(p) for p in self.url_path.strip("/").split("/")]
        if self.url_path.rstrip("/") == "/api/whoami-v2":
            return self.who_am_i()
        if parts[:2] == ["api", "buckets"] and len(parts) >= 4:
            name, what = parts[3], parts[4] if len(parts) > 4 else ""
            bucket_id = f"{standin.options.user if parts[2] == 'me' else parts[2]}/{name}"
            call = {
                ("POST", ""): self.create,
                ("GET", ""): self.info,
                ("DELETE", ""): self.delete,
                ("GET", "tree"): self.tree,
                ("POST", "paths-info"): self.paths_info,
                ("GET", "xet-read-token"): self.xet_token,
                ("GET", "xet-write-token"): self.xet_token,
                ("POST", "batch"): self.batch,
                ("GET", "events"): self.events,
            }.get((self.command, what))
            if call:
                return call(bucket_id, "/".join(parts[5:]), body)
        if parts[0] == "buckets" and len(parts) >= 5 and parts[3] == "resolve" and self.command in ("GET", "HEAD"):
            return self.resolve(f"{parts[1]}/{parts[2]}", "/".join(parts[4:]))
        raise HttpError(404, "Sorry, we can't find the page you are looking for.")

    def who_am_i(self):
        user = self.standin.options.user
        auth = {"type": "access_token", "accessToken": {"displayName": "test", "role": "write"}}
        self.reply(200, {"type": "user", "name": user, "fullname": user, "orgs": [], "auth": auth})

    def create(self, bucket_id, _, body):
        options = json.loads(body or b"{}")
        url = {"url": f"{self.standin.hub}/buckets/{bucket_id}"}
        private = options.get("visibility") == "private" or bool(options.get("private"))
        with self.standin.lock:
            if bucket_id in self.standin.buckets:
                return self.reply(409, {"error": "You already created this bucket", **url})
            self.standin.buckets[bucket_id] = Bucket(bucket_id, private)
        self.reply(200, url)

    def info(self, bucket_id, *_):
        with self.standin.lock:
            self.reply(200, self.standin.bucket(bucket_id).info())

    def delete(self, bucket_id, *_):
        with self.standin.lock:
            self.standin.bucket(bucket_id)
            del self.standin.buckets[bucket_id]
            self.standin.lock.notify_all()
        self.reply(200, {})

    def page(self, entries):
        """Replies one page of entries in order of their paths; the cursor is the last path of the page before."""
        most = self.standin.options.page_size
        limit = min(int(self.query.get("limit", [most])[0]), most)
        cursor = self.query.get("cursor", [""])[0]
        entries = [entry for entry in entries if entry["path"] > cursor]
        headers = {}
        if len(entries) > limit:
            query = {k: v[0] for k, v in self.query.items()}
            query["cursor"] = entries[limit - 1]["path"]
            headers["Link"] = f'<{self.standin.hub}{self.url_path}?{urlencode(query)}>; rel="next"'
        self.reply(200, entries[:limit], headers)

    def tree(self, bucket_id, prefix, _):
        recursive = self.query.get("recursive", ["true"])[0].lower() in ("true", "1")
        with self.standin.lock:
            bucket = self.standin.bucket(bucket_id)
            entries = {}
            base = prefix.rstrip("/") + "/" if prefix else ""
            for path in bucket.files:
                if not path.startswith(prefix):
                    continue
                rest = path[len(base) :] if path.startswith(base) else ""
                entry = bucket.entry(path)
                if not recursive and "/" in rest:
                    folder = base + rest.split("/")[0]
                    newest = max(entry["uploadedAt"], entries.get(folder, entry)["uploadedAt"])
                    entry = {"type": "directory", "path": folder, "uploadedAt": newest}
                entries[entry["path"]] = entry
        self.page([entries[path] for path in sorted(entries)])

    def paths_info(self, bucket_id, _, body):
        paths = json.loads(body)["paths"]
        if len(paths) > 2000:
            raise HttpError(400, "Too many paths")
        with self.standin.lock:
            bucket = self.standin.bucket(bucket_id)
            self.reply(200, [bucket.entry(p) for p in paths if p in bucket.files])

    def xet_token(self, bucket_id, *_):
        scope = "write" if "write" in self.url_path else "read"
        token, expiry = f"xet_{scope}_{secrets.token_hex(12)}", int(time.time() + self.standin.options.token_life)
        cas = self.standin.cas
        with self.standin.lock:
            self.standin.bucket(bucket_id)
            self.standin.tokens[token] = (scope, expiry)
        headers = {"X-Xet-Access-Token": token, "X-Xet-Token-Expiration": str(expiry), "X-Xet-Cas-Url": cas}
        self.reply(200, {"accessToken": token, "exp": expiry, "casUrl": cas}, headers)

    def batch(self, bucket_id, _, body):
        if not self.headers.get("Content-Type", "").startswith("application/x-ndjson"):
            raise HttpError(400, "Content-Type must be application/x-ndjson")
        operations = [json.loads(line) for line in body.split(b"\n") if line.strip()]
        failed = []
        with self.standin.lock:
            bucket = self.standin.bucket(bucket_id)
            for op in operations:
                fails = self.rule and self.rule.get("fail_path") == op.get("path")
                error = "injected" if fails else self.standin.operation(bucket, op)
                if error:
                    failed.append({"path": op.get("path"), "error": error})
            self.standin.lock.notify_all()
        succeeded = len(operations) - len(failed)
        answer = {"success": not failed, "processed": len(operations), "succeeded": succeeded, "failed": failed}
        self.reply(422 if failed and not succeeded else 200, answer)

    def resolve(self, bucket_id, path):
        standin = self.standin
        with standin.lock:
            bucket = standin.bucket(bucket_id)
            if path not in bucket.files:
                raise HttpError(404, "Entry not found", "EntryNotFound")
            f = dict(bucket.files[path])
        route = f"{standin.hub}/api/buckets/{bucket_id}/xet-read-token"
        xet_hash = f["xetHash"]
        reconstruction = f'<{standin.cas}/v1/reconstructions/{xet_hash}>; rel="xet-reconstruction-info"'
        headers = {
            "X-Xet-Hash": xet_hash,
            "X-Linked-Size": str(f["size"]),
            "X-Linked-ETag": f'"{xet_hash}"',
            "ETag": f'"{xet_hash}"',
            "X-Xet-Refresh-Route": route,
            "Accept-Ranges": "bytes",
            "Last-Modified": format_datetime(datetime.fromtimestamp(f["uploadedAt"], timezone.utc), usegmt=True),
            "Link": f'<{route}>; rel="xet-auth", {reconstruction}',
        }
        if "application/vnd.xet-fileinfo+json" in self.headers.get("Accept", ""):
            answer = json.dumps({"hash": xet_hash, "size": f["size"]}).encode()
            return self.reply(200, answer, headers, "application/vnd.xet-fileinfo+json")
        content = {"name": path.split("/")[-1], "type": f["contentType"] or "application/octet-stream"}
        headers["Location"] = standin.sign(f"/file/{xet_hash}", content)
        self.reply(302, b"", headers)

    def events(self, bucket_id, *_):
        change_feed.serve(self, self.standin, bucket_id)
