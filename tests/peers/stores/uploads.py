"""Folders of files in remote stores, uploaded and read back by the official clients.

A `Place` is a prefix in a bucket: it puts a folder there and says what lies there. Object stores give times of their
own, in seconds; where the order of publication is only in the files' times, `put` uploads the oldest first and pauses
between two times.
"""

import itertools
import os
import time
import urllib.parse

PAUSE = 1.1  # seconds; more than one, which is what the times of object stores tell apart


def files_of(folder):
    """[(modification time, path relative to the folder)], oldest first."""
    found = []
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            found.append((os.stat(path).st_mtime, os.path.relpath(path, folder)))
    return sorted(found)


def groups_of(folder, in_order):
    """Lists of files that may be uploaded together, after the pauses that are due."""
    files = files_of(folder)
    if not in_order:
        yield [path for _, path in files]
        return
    for number, (_, group) in enumerate(itertools.groupby(files, key=lambda file: file[0])):
        if number > 0:
            time.sleep(PAUSE)
        yield [path for _, path in group]


class S3Place:
    def __init__(self, server, prefix):
        self.server, self.prefix = server, prefix
        self.client = server.client()

    @property
    def url(self):
        return f"s3://{self.server.bucket}/{urllib.parse.quote(self.prefix)}"

    def put(self, folder, in_order=False):
        for paths in groups_of(folder, in_order):
            for path in paths:
                with open(os.path.join(folder, path), "rb") as body:
                    self.put_object(path, body)

    def put_object(self, path, body):
        self.client.put_object(Bucket=self.server.bucket, Key=f"{self.prefix}/{path}", Body=body)

    def remove(self, path):
        self.client.delete_object(Bucket=self.server.bucket, Key=f"{self.prefix}/{path}")

    def times(self):
        """{path: when the store got it}"""
        pages = self.client.get_paginator("list_objects_v2").paginate(
            Bucket=self.server.bucket, Prefix=f"{self.prefix}/"
        )
        entries = [entry for page in pages for entry in page.get("Contents", [])]
        return {entry["Key"].removeprefix(f"{self.prefix}/"): entry["LastModified"].timestamp() for entry in entries}

    def keys(self):
        return list(self.times())

    def contents(self):
        """{path: bytes}"""
        bucket = self.server.bucket
        return {k: self.client.get_object(Bucket=bucket, Key=f"{self.prefix}/{k}")["Body"].read() for k in self.keys()}


class HubPlace:
    bucket = "tester/runs"

    def __init__(self, server, prefix):
        self.server, self.prefix = server, prefix
        self.api = server.api()
        self.api.create_bucket(self.bucket, exist_ok=True)

    @property
    def url(self):
        return f"hf://buckets/{self.bucket}/{urllib.parse.quote(self.prefix)}"

    def put(self, folder, in_order=False):
        for paths in groups_of(folder, in_order):
            self.api.batch_bucket_files(
                self.bucket, add=[(os.path.join(folder, path), f"{self.prefix}/{path}") for path in paths]
            )

    def put_object(self, path, body):
        self.api.batch_bucket_files(self.bucket, add=[(body, f"{self.prefix}/{path}")])

    def remove(self, path):
        self.api.batch_bucket_files(self.bucket, delete=[f"{self.prefix}/{path}"])

    def times(self):
        """{path: when the store got it}"""
        entries = self.api.list_bucket_tree(self.bucket, self.prefix + "/", recursive=True)
        files = [entry for entry in entries if entry.type == "file"]
        return {entry.path.removeprefix(f"{self.prefix}/"): entry.uploaded_at.timestamp() for entry in files}

    def keys(self):
        return list(self.times())

    def contents(self):
        """{path: bytes}"""
        keys = self.keys()
        folder = self.server.work / "downloads"
        files = [(f"{self.prefix}/{key}", str(folder / str(i))) for i, key in enumerate(keys)]
        if files:
            self.api.download_bucket_files(self.bucket, files)
        return {key: (folder / str(i)).read_bytes() for i, key in enumerate(keys)}
