#!/usr/bin/env python3
"""What a Hub answers about a model: hub_model_replies.py prints tests/golden/hub/model_replies.json.

Written by hand from the requests and reads of huggingface_hub 2.4.0 (hf_api.py: model_info, _iter_repo_tree_pages,
RepoFile; file_download.py: get_hf_file_metadata; utils/_xet.py). test_hub.py has the real client read them, and
tests/engine/hub_model_test.cpp ours. "{hub}" and "{cdn}" stand for the addresses of the two servers.
"""

import hashlib
import json

COMMIT = "5e7a1c2b3d4f60718293a4b5c6d7e8f901234567"
CONFIG = b'{"model_type":"tiny","hidden_size":8}\n'
WEIGHTS = bytes(range(256)) * 40
XET = bytes(reversed(range(256))) * 9
XET_HASH = "0f" * 32
NAME = "we ird+\u00fc.txt"
TEXT = "über\n".encode()


def blob_id(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def pointer(data):
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(data)}\nsize {len(data)}\n".encode()


def lfs_entry(path, data, **more):
    return {"type": "file", "path": path, "size": len(data), "oid": blob_id(pointer(data)),
            "lfs": {"oid": sha256(data), "size": len(data), "pointerSize": len(pointer(data))}, **more}


def git_entry(path, data):
    return {"type": "file", "path": path, "size": len(data), "oid": blob_id(data)}


def reply(server, path, status, headers, body=b""):
    return {"server": server, "path": path, "status": status, "headers": headers, "body": body.hex()}


def json_reply(path, value, **headers):
    return reply("hub", path, 200, {"Content-Type": "application/json", **headers}, json.dumps(value).encode())


def git_reply(path, data):
    return reply("hub", f"/org/model/resolve/{COMMIT}/{path}", 200,
                 {"X-Repo-Commit": COMMIT, "ETag": f'"{blob_id(data)}"', "Accept-Ranges": "none"}, data)


def lfs_replies(path, data, **headers):
    place = f"/lfs/{sha256(data)}"
    return [reply("hub", f"/org/model/resolve/{COMMIT}/{path}", 302,
                  {"X-Repo-Commit": COMMIT, "X-Linked-ETag": f'"{sha256(data)}"', "X-Linked-Size": str(len(data)),
                   "ETag": f'"{blob_id(pointer(data))}"', "Location": "{cdn}" + place + "?Signature=very-secret", **headers}),
            reply("cdn", place, 200, {"ETag": f'"{sha256(data)}"', "Accept-Ranges": "bytes"}, data)]


def replies():
    route = "/api/models/org/model"
    info = {"_id": "1", "id": "org/model", "modelId": "org/model", "sha": COMMIT, "private": False, "tags": [],
            "lastModified": "2026-01-02T03:04:05.000Z", "createdAt": "2026-01-01T00:00:00.000Z", "downloads": 0, "likes": 0,
            "siblings": [{"rfilename": "config.json"}, {"rfilename": "model.safetensors"}]}
    first = [lfs_entry("model.safetensors", WEIGHTS), git_entry("config.json", CONFIG),
             {"type": "directory", "path": "sub", "size": 0, "oid": "1" * 40}]
    second = [lfs_entry("sub/xet.bin", XET, xetHash=XET_HASH), git_entry("sub/" + NAME, TEXT)]
    tree = f"{route}/tree/{COMMIT}"
    token = f"{route}/xet-read-token/{COMMIT}"
    return [json_reply(f"{route}/revision/main", info), json_reply(f"{route}/revision/refs%2Fpr%2F1", info),
            json_reply(route, info),
            json_reply(f"{tree}#1", first, Link="<{hub}" + tree + '?recursive=true&expand=false&cursor=abc>; rel="next"'),
            json_reply(f"{tree}#2", second),
            json_reply(f"{tree}/sub#1", second),
            git_reply("config.json", CONFIG), git_reply("sub/we%20ird%2B%C3%BC.txt", TEXT),
            *lfs_replies("model.safetensors", WEIGHTS),
            *lfs_replies("sub/xet.bin", XET, **{"X-Xet-Hash": XET_HASH,
                                                "Link": "<{hub}" + token + '>; rel="xet-auth", <{cdn}/v1/reconstructions/'
                                                        + XET_HASH + '>; rel="xet-reconstruction-info"'}),
            reply("hub", f"{route}/revision/gone", 404, {"X-Error-Code": "RevisionNotFound"}, b'{"error":"Invalid rev id"}'),
            reply("hub", "/api/models/org/none/revision/main", 404, {"X-Error-Code": "RepoNotFound"},
                  b'{"error":"Repository not found"}'),
            reply("hub", "/api/models/org/gated/revision/main", 403, {"X-Error-Code": "GatedRepo"},
                  b'{"error":"Access to model org/gated is restricted"}')]


FILES = {"config.json": CONFIG, "model.safetensors": WEIGHTS, "sub/xet.bin": XET, "sub/" + NAME: TEXT}


if __name__ == "__main__":
    print(json.dumps({"commit": COMMIT, "files": {k: v.hex() for k, v in FILES.items()}, "replies": replies()}, indent=1))
