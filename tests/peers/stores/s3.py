"""An S3 server for tests: `with S3Server() as s3:`.

By hand: s3.py [--kind KIND] [--tls] COMMAND... runs a command with the variables of S3Server.environment.
"""

import argparse
import os
import subprocess
import sys

import boto3
import programs
import servers
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

REGION = "us-east-1"
KEY = "DELTASCOPETESTKEY"
SECRET = "deltascope/test+secret0123456789"
BUCKET = "deltascope-test"
KINDS = {
    "versitygw": "files on disk; checks signatures, checksums and conditions strictly",
    "minio": "the second opinion, with a storage format of its own; keeps `a` beside `a/b`; long to build",
    "moto": "in memory; checks neither signatures nor checksums",
}


def keeps_attributes(folder):
    try:
        os.setxattr(folder, "user.test", b"1")
    except OSError:
        return False
    return True


class S3Server(servers.Server):
    """`bucket` is there from the start. `environment` has what an S3 client reads, and S3_CA, the certificate to trust,
    where `tls` is asked for."""

    def __init__(self, kind="versitygw", tls=False):
        super().__init__()
        self.kind, self.tls, self.bucket = kind, tls, BUCKET
        self.program = programs.installed(kind)
        self.endpoint = None

    def command(self, port):
        self.endpoint = f"{'https' if self.tls else 'http'}://127.0.0.1:{port}"
        data, own = self.work / "data", self.work / "own"
        data.mkdir(exist_ok=True)
        own.mkdir(exist_ok=True)
        (self.work / "none").touch()
        certificate, key = own / "public.crt", own / "private.key"
        if self.tls and not certificate.exists():
            self.make_certificate(certificate, key)
        if self.kind == "versitygw":
            tls = ["--cert", certificate, "--key", key] if self.tls else []
            kept = [] if keeps_attributes(data) else ["--sidecar", own]
            options = ["--port", f"127.0.0.1:{port}", "--access", KEY, "--secret", SECRET, "--region", REGION]
            return [self.program, *options, "--quiet", "--keep-alive", *tls, "posix", *kept, data], os.environ
        if self.kind == "minio":
            variables = {"MINIO_ROOT_USER": KEY, "MINIO_ROOT_PASSWORD": SECRET, "MINIO_REGION": REGION}
            variables |= {"MINIO_UPDATE": "off", "MINIO_BROWSER": "off"}
            options = ["--quiet", "--certs-dir", own, "--address", f"127.0.0.1:{port}"]
            return [self.program, "server", *options, data], os.environ | variables
        tls = ["-c", certificate, "-k", key] if self.tls else []
        return [self.program, "-H", "127.0.0.1", "-p", port, *tls], os.environ

    def make_certificate(self, certificate, key):
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
        command += ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", certificate]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)

    def answers(self):
        try:
            self.client(retries={"max_attempts": 0}, connect_timeout=5).create_bucket(Bucket=self.bucket)
        except (BotoCoreError, ClientError):
            return False
        return True

    @property
    def certificate(self):
        return str(self.work / "own" / "public.crt") if self.tls else None

    @property
    def environment(self):
        variables = {
            "AWS_ENDPOINT_URL_S3": self.endpoint,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": str(self.work / "none"),  # not that of who runs the tests
            "AWS_SHARED_CREDENTIALS_FILE": str(self.work / "none"),
            "S3_ENDPOINT": self.endpoint,
            "S3_BUCKET": self.bucket,
        }
        if self.tls:
            variables |= dict.fromkeys(("S3_CA", "AWS_CA_BUNDLE", "CURL_CA_BUNDLE"), self.certificate)
        return variables

    def client(self, secret=SECRET, **config):
        """boto3's. Checksums in trailers are left out: over TLS versitygw loses count of them behind a refused put."""
        config = {"s3": {"addressing_style": "path"}, "request_checksum_calculation": "when_required"} | config
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=KEY,
            aws_secret_access_key=secret,
            verify=self.certificate,
            config=Config(**config),
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, default="versitygw", help=str(KINDS))
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    with S3Server(options.kind, options.tls) as server:
        return subprocess.run(options.command, env=os.environ | server.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
