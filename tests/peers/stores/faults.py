"""The faults that fault_proxy.py brings about: their kinds, which requests they can strike, what they reply."""

import dataclasses
import email.utils
import json
import re
import time

SKEW = 2 * 3600  # seconds

# kind: (transient: a client that tries again gets what it wants, what is done). The rest is in the code below.
KINDS = {
    "refused": (True, "the connection is reset before the request is looked at"),
    "lost": (True, "the server did its work, the reply is lost with the connection"),
    "cut": (True, "the connection is reset in the middle of the body"),
    "slow": (True, "the body stands still in its middle for a second"),
    "stall": (True, "the body stands still in its middle until the client gives up"),
    "500": (True, "an internal error"),
    "503": (True, "SlowDown, without a word about when"),
    "503-after": (True, "SlowDown with Retry-After"),
    "429": (True, "without a word about when"),
    "429-after": (True, "with Retry-After"),
    "429-window": (True, "with RateLimit, of which nothing is left"),
    "too-long": (True, "Content-Length names more bytes than come"),
    "too-short": (True, "Content-Length names fewer bytes than there are"),
    "whole": (True, "200 with the whole object where a range was asked for"),
    "cut-listing": (True, "a listing ends within an entry, with a fitting Content-Length"),
    "shrunk-listing": (False, "a listing lacks its last entries, and says that it is complete"),
    "skewed-date": (True, "the Date of a reply is hours ahead"),
    "time-too-skewed": (True, "403 RequestTimeTooSkewed with the right Date"),
    "expired-token": (True, "the short-lived token is refused as expired"),
    "expired-key": (False, "the key of the user is refused as expired"),
    "expired-url": (True, "a signed URL is refused as expired"),
    "flip": (False, "a bit of the body is another one"),
    "changed": (False, "the object is another one from now on"),
}


@dataclasses.dataclass
class Fault:
    kind: str
    skip: int = 0  # requests that would fit, before the one that is struck
    match: str = ""  # regular expression that method and target fit
    place: float = 0.5  # where in a body, from 0 to 1

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(self.kind)


@dataclasses.dataclass
class Request:
    method: str
    target: str
    headers: list  # [(name, value)] as they came
    body: bytes

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name), None)


@dataclasses.dataclass
class Reply:
    status: int
    reason: str
    headers: list
    body: bytes

    def without(self, *names):
        return [(key, value) for key, value in self.headers if key.lower() not in names]


def date(ahead=0):
    return email.utils.formatdate(time.time() + ahead, usegmt=True)


def is_listing(request):
    return request.method == "GET" and ("list-type=2" in request.target or "/tree" in request.target.split("?")[0])


def fits(kind, request):
    """Whether a fault of this kind can strike the request at all."""
    is_range = request.method == "GET" and request.header("range") is not None
    if kind in ("whole", "changed"):
        return is_range
    if kind in ("cut-listing", "shrunk-listing"):
        return is_listing(request)
    if kind in ("cut", "slow", "stall", "too-long", "too-short"):
        return request.method == "GET"
    if kind == "flip":
        return request.method == "GET" and not is_listing(request)
    if kind == "expired-token":
        return (request.header("authorization") or "").startswith("Bearer xet_")
    if kind == "expired-url":
        return "Signature=" in request.target
    if kind in ("time-too-skewed", "expired-key"):
        return (request.header("authorization") or "").startswith("AWS4-HMAC-SHA256")
    return True


def instead(fault, request):
    """The reply of a fault that comes instead of the server's work, or None."""
    status, code, text, headers = {
        "500": (500, "InternalError", "We encountered an internal error. Please try again.", {}),
        "503": (503, "SlowDown", "Please reduce your request rate.", {}),
        "503-after": (503, "SlowDown", "Please reduce your request rate.", {"Retry-After": "1"}),
        "429": (429, "TooManyRequests", "Too many requests.", {}),
        "429-after": (429, "TooManyRequests", "Too many requests.", {"Retry-After": "1"}),
        "429-window": (429, "TooManyRequests", "Too many requests.", {"RateLimit": '"api";r=0;t=1'}),
        "time-too-skewed": (403, "RequestTimeTooSkewed", "The difference between the clocks is too large.", {}),
        "expired-key": (400, "ExpiredToken", "The provided token has expired.", {}),
        "expired-token": (401, "Unauthorized", "The token has expired.", {}),
        "expired-url": (403, "AccessDenied", "Request has expired.", {}),
    }.get(fault.kind, (0, "", "", {}))
    if not status:
        return None
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{text}</Message></Error>'
    named = {"Content-Type": "application/xml", "Date": date(), **headers}
    return Reply(status, code, list(named.items()), b"" if request.method == "HEAD" else body.encode())


def shrunk(body):
    """(a listing without the second half of its entries, their number)"""
    if body.lstrip().startswith(b"["):
        entries = json.loads(body)
        kept = entries[: len(entries) // 2]
        return json.dumps(kept).encode(), len(entries) - len(kept)
    entries = re.findall(rb"<Contents>.*?</Contents>", body, re.DOTALL)
    for entry in entries[len(entries) // 2 :]:
        body = body.replace(entry, b"", 1)
    body = re.sub(rb"<NextContinuationToken>.*?</NextContinuationToken>", b"", body, flags=re.DOTALL)
    return body.replace(b"<IsTruncated>true<", b"<IsTruncated>false<"), len(entries) - len(entries) // 2
