#!/usr/bin/env python3
"""Installs the program into a folder of its own and looks at what a desktop would find there.

usage: installed_files.py BUILD-FOLDER SOURCE-FOLDER
"""
import configparser
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ID = "io.github.deltascope.Deltascope"
SIZES = [16, 22, 24, 32, 48, 64, 128, 256, 512]


def size_of(png):
    head = png.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n", png
    return struct.unpack(">II", head[16:])


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def released_versions(changelog):
    return re.findall(r"^## \[(\d+\.\d+\.\d+)\]", changelog.read_text(), re.M)


def main():
    build, source = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        run("cmake", "--install", build, "--prefix", root)
        share = root / "share"
        icons = share / "icons/hicolor"
        expected = {root / "bin/deltascope", root / "bin/deltascope-desktop",
                    share / f"applications/{ID}.desktop", share / f"metainfo/{ID}.metainfo.xml",
                    share / f"mime/packages/{ID}.xml", icons / f"scalable/apps/{ID}.svg",
                    icons / f"symbolic/apps/{ID}-symbolic.svg"}
        expected |= {icons / f"{size}x{size}/apps/{ID}.png" for size in SIZES}
        found = {path for path in root.rglob("*") if path.is_file()}
        assert expected <= found, f"not installed: {expected - found}"
        for size in SIZES:
            assert size_of(icons / f"{size}x{size}/apps/{ID}.png") == (size, size), size

        run("update-mime-database", share / "mime")
        globs = (share / "mime/globs2").read_text()
        assert ":application/x-deltascope-bundle:*.dscope" in globs, globs
        assert "application/x-deltascope-bundle application/zip" in (share / "mime/subclasses").read_text()

        run("desktop-file-validate", share / f"applications/{ID}.desktop")
        entry = configparser.ConfigParser(interpolation=None)
        entry.optionxform = str
        entry.read(share / f"applications/{ID}.desktop")
        main_entry = entry["Desktop Entry"]
        assert main_entry["Icon"] == ID
        known = {"x-scheme-handler/deltascope"} | {line.split(":")[1] for line in globs.splitlines() if ":" in line}
        for mime in filter(None, main_entry["MimeType"].split(";")):
            assert mime in known, f"{mime} is claimed and not known"
        for section in entry.sections():
            program = entry[section]["Exec"].split()[0]
            assert (root / "bin" / program).exists(), program

        run("appstreamcli", "validate", "--no-net", share / f"metainfo/{ID}.metainfo.xml")
        info = xml.parse(share / f"metainfo/{ID}.metainfo.xml").getroot()
        assert info.findtext("launchable") == f"{ID}.desktop"
        releases = info.findall("releases/release")
        stable = [release.get("version") for release in releases if release.get("type", "stable") == "stable"]
        assert stable == released_versions(source / "CHANGELOG.md"), stable
        version = re.search(r"project\(deltascope VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text())[1]
        assert releases[0].get("version") == version, version
    print("ok")


if __name__ == "__main__":
    main()
