"""The stand-in for the Hugging Face Hub with a real Xet CAS server, for tests: `with HubServer() as hub:`.

By hand: hub.py COMMAND... runs a command with the variables of HubServer.environment.
"""

import http.client
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

import programs
import servers

STANDIN = pathlib.Path(__file__).resolve().with_name("hub_standin")
TOKEN = "hf_test"
OWNER = "tester"


class CasServer(servers.Server):
    """local_cas_server of the crate xet-client, which keeps everything in memory."""

    def __init__(self):
        super().__init__()
        self.program = programs.installed("local_cas_server")
        self.port = None

    def command(self, port):
        self.port = port
        return [self.program, "--host", "127.0.0.1", "--port", port, "--in-memory"], os.environ

    def answers(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except http.client.HTTPException:
            return False
        finally:
            connection.close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


class HubServer(servers.Server):
    """`options` are those of hub_standin. `hub`, `cas` and `cdn` are the addresses of its listeners."""

    def __init__(self, *options):
        super().__init__()
        self.options = options
        self.cas_server = CasServer()
        self.hub = self.cas = self.cdn = None

    def __enter__(self):
        self.cas_server.__enter__()
        return super().__enter__()

    def command(self, _):
        options = ["--token", TOKEN, "--user", OWNER, *self.options]
        return [sys.executable, "-B", STANDIN, "--upstream", self.cas_server.url, *options], os.environ

    def answers(self):
        log = (self.work / "server.log").read_text(encoding="utf-8")
        if "READY=" not in log:
            return False
        said = dict(line.split("=", 1) for line in log.splitlines() if "=" in line)
        self.hub, self.cas, self.cdn = said["HUB"], said["CAS"], said["CDN"]
        return True

    def stop_beside(self):
        self.cas_server.stop()

    @property
    def environment(self):
        home = self.work / "hf"
        home.mkdir(exist_ok=True)
        return {
            "HF_ENDPOINT": self.hub,
            "HF_TOKEN": TOKEN,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
        }

    def api(self):
        """The official client. It reads its variables once, so one process uses one server."""
        os.environ.update(self.environment)
        from huggingface_hub import HfApi

        return HfApi(endpoint=self.hub, token=TOKEN)

    def control(self, what, body=None):
        """GET or POST of `faults` or `log`, as hub_standin/handler.py describes them."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.hub}/_standin/{what}", data) as answer:
            return json.load(answer)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with HubServer() as server:
        return subprocess.run(sys.argv[1:], env=os.environ | server.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
