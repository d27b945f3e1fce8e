"""What the tests of the program on remote stores share: a store as the tests see it, hurt by proxies or not."""

import http.client
import pathlib
import random
import subprocess
import sys
import threading
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "e2e"))

import support
from fault_proxy import FaultProxy
from hub import HubServer
from s3 import S3Server
from uploads import HubPlace, S3Place


class S3:
    """versitygw behind a proxy. `environment` leads to the proxy, the official client goes to the server itself."""

    name = "s3"
    writer_options = []

    def __init__(self):
        self.server = S3Server()
        self.proxies = {"s3": FaultProxy(change=self.change, whole=self.whole)}
        self.changed = []  # [(key, bytes as they were)]

    def start(self, stack):
        stack(self.server)
        proxy = self.proxies["s3"]
        proxy.upstream = self.server.endpoint
        stack(proxy)
        self.client = self.server.client()
        front = {"AWS_ENDPOINT_URL_S3": proxy.url, "S3_ENDPOINT": proxy.url}
        self.environment = self.server.environment | front
        self.secrets = [self.environment["AWS_SECRET_ACCESS_KEY"], "X-Amz-Signature="]
        return self

    def place(self, prefix):
        return S3Place(self.server, prefix)

    def object_of(self, target):
        key = urllib.parse.unquote(urllib.parse.urlsplit(target).path.split("/", 2)[2])
        return {"Bucket": self.server.bucket, "Key": key}

    def whole(self, target):
        return self.client.get_object(**self.object_of(target))["Body"].read()

    def change(self, target):
        data = self.whole(target)
        self.changed.append((target, data))
        self.client.put_object(**self.object_of(target), Body=other_bytes(data))

    def restore(self):
        while self.changed:
            target, data = self.changed.pop()
            self.client.put_object(**self.object_of(target), Body=data)


class Hub:
    """The stand-in for the Hub, with a proxy in front of each of its listeners."""

    name = "hub"
    writer_options = ["--sole-writer"]  # it cannot put under a condition

    def __init__(self):
        self.proxies = {side: FaultProxy(change=self.change, whole=self.whole) for side in ("hub", "cas", "cdn")}
        self.changed = []  # [(place, path, bytes as they were)]
        self.current = None  # the place whose objects a fault may change

    def start(self, stack):
        urls = []
        for side, proxy in self.proxies.items():
            stack(proxy)
            urls += [f"--{side}-url", proxy.url]
        self.server = HubServer(*urls)
        stack(self.server)
        for side, proxy in self.proxies.items():
            proxy.upstream = getattr(self.server, side)
        self.environment = self.server.environment | {"HF_ENDPOINT": self.proxies["hub"].url}
        self.secrets = [self.environment["HF_TOKEN"], "xet_read_", "xet_write_", "Signature="]
        return self

    def place(self, prefix):
        self.current = HubPlace(self.server, prefix)
        return self.current

    def whole(self, target):
        """Signed URLs of files give them whole; ranges of xorbs have no whole."""
        if not target.startswith("/file/"):
            return None
        connection = http.client.HTTPConnection(self.server.cdn.removeprefix("http://"), timeout=60)
        try:
            connection.request("GET", target)
            return connection.getresponse().read()
        finally:
            connection.close()

    def change(self, _):
        """A request names contents, not a path, so any object of the run becomes another one."""
        path = random.Random(0).choice(sorted(self.current.keys()))
        data = self.current.contents()[path]
        self.changed.append((self.current, path, data))
        self.current.put_object(path, other_bytes(data))

    def restore(self):
        while self.changed:
            place, path, data = self.changed.pop()
            place.put_object(path, data)


STORES = {"s3": S3, "hub": Hub}


def other_bytes(data):
    """As long, with one byte in the middle changed."""
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :] if data else b"x"


def is_payload(path):
    return ".deltascope" not in pathlib.PurePath(path).parts


class RemoteTest(support.E2ETest):
    """A test with a store of its class. `store_name` comes from the command line: see main()."""

    store_name = None

    @classmethod
    def setUpClass(cls):
        cls.store = STORES[cls.store_name]().start(cls.enterClassContext)

    def requested(self, place, methods):
        """Keys of the objects of a place that requests of these methods named. S3 alone names objects by keys."""
        prefix = f"/{self.store.server.bucket}/{place.prefix}/"
        seen = set()
        for request in self.store.proxies["s3"].seen:
            path = urllib.parse.unquote(urllib.parse.urlsplit(request.target).path)
            if request.method in methods and path.startswith(prefix):
                seen.add(path.removeprefix(prefix))
        return {key for key in seen if is_payload(key)}

    def run(self, result=None):
        bad = lambda: len(result.failures) + len(result.errors) if result else 0
        before = bad()
        super().run(result)
        if bad() > before:
            print(self.store.server.log_end(), file=sys.stderr)
        return result

    def environment(self, **extra):
        return super().environment(**(self.store.environment | extra))

    def kill_at(self, args, number, dropped):
        """Runs the program and kills it when its request of this number arrives, which may still be carried out."""
        process = self.start(*args, stdout=subprocess.DEVNULL)

        def act(count):
            if count == number:
                process.kill()
            return count < number or (count == number and not dropped)

        with Requests(self.store, act):
            process.wait(120)
        return process.returncode

    def fetch(self, place, name):
        """A folder of this machine with what the official client reads."""
        folder = pathlib.Path(self.path(name))
        folder.mkdir()
        for path, data in place.contents().items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        return str(folder)


class Requests:
    """Counts the requests at all proxies of a store together. `act(n)`: called with the number of each, before it goes
    on; where it answers False, the request is dropped."""

    def __init__(self, store, act=lambda _: True):
        self.store, self.act, self.count, self.lock = store, act, 0, threading.Lock()

    def __enter__(self):
        for proxy in self.store.proxies.values():
            proxy.plan()
            proxy.on_request = self.on_request
        return self

    def on_request(self):
        with self.lock:
            self.count += 1
            number = self.count
        return self.act(number)

    def __exit__(self, *_):
        for proxy in self.store.proxies.values():
            proxy.on_request = None


def main():
    """The first argument is the store: s3 or hub."""
    RemoteTest.store_name = sys.argv.pop(1)
    support.main()
