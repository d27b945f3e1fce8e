"""The change feed of a bucket: replay, `ready`, then live changes merged for a moment, a comment line as heartbeat."""

import json
import re
import time

from state import HttpError, from_iso

REPLAY = 900  # seconds that the feed can go back
HEARTBEAT = 30
LIFE = 1200  # seconds until a client is told to connect again
MERGED = 0.2


def serve(handler, standin, bucket_id):
    if "text/event-stream" not in handler.headers.get("Accept", ""):
        raise HttpError(400, "Accept must be text/event-stream")
    with standin.lock:
        bucket = standin.bucket(bucket_id)
        at, reset = start_of(bucket, handler.query)
    handler.status = 200
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Cache-Control", "no-store")
    handler.send_header("Connection", "close")
    handler.end_headers()
    if reset:
        send(handler, "reset", {"reason": "cursor_too_old"})
    else:
        follow(handler, standin, bucket, at)


def start_of(bucket, query):
    """(sequence number of the last change that the client knows, whether that is too long ago)"""
    cursor, since = query.get("cursor", [None])[0], query.get("since", [None])[0]
    oldest = time.time() - REPLAY
    if cursor is not None:
        if not re.fullmatch(r"c\d+", cursor):
            raise HttpError(400, "Invalid cursor")
        at = int(cursor[1:])
        return at, at > bucket.sequence or any(s > at and t < oldest for s, t, _ in bucket.changes)
    if since is not None:
        try:
            start = from_iso(since)
        except ValueError:
            raise HttpError(400, "Invalid since") from None
        at = max([s for s, t, _ in bucket.changes if t <= start + 1e-6], default=0)
        return at, start < oldest and bucket.created < oldest
    return bucket.sequence, False


def follow(handler, standin, bucket, at):
    ready = False
    end = time.time() + LIFE
    next_beat = time.time() + HEARTBEAT
    while True:
        with standin.lock:
            changes = behind(bucket, at)
            if ready and not changes:
                standin.lock.wait(max(0.0, min(next_beat, end) - time.time()))
                changes = behind(bucket, at)
            gone = standin.buckets.get(bucket.id) is not bucket
        if changes:
            if ready:
                time.sleep(MERGED)
                with standin.lock:
                    changes = behind(bucket, at)
            at = changes[-1][0]
            newest = {change["path"]: change for _, change in changes}
            send(handler, "changes", {"cursor": f"c{at}", "changes": list(newest.values())})
        if not ready:
            send(handler, "ready", {"cursor": f"c{at}"} if at else {})
            ready = True
        if gone or time.time() >= end:
            return send(handler, "reconnect", {"cursor": f"c{at}"})
        if time.time() >= next_beat:
            handler.wfile.write(b": ping\n\n")
            handler.wfile.flush()
            next_beat = time.time() + HEARTBEAT


def behind(bucket, at):
    return [(sequence, change) for sequence, _, change in bucket.changes if sequence > at]


def send(handler, name, data):
    handler.wfile.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
    handler.wfile.flush()
