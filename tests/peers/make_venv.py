#!/usr/bin/env python3
"""Makes the virtual environment of the peers: make_venv.py FOLDER

Does nothing if it is there and fits requirements.txt. Packages come from the package index that pip of this machine
uses, as wheels only. A failure is an error, never a skip.
"""

import pathlib
import shutil
import subprocess
import sys
import venv

REQUIREMENTS = pathlib.Path(__file__).resolve().with_name("requirements.txt")
IMPORTS = "import blake3, boto3, hf_xet, huggingface_hub, numpy, safetensors.numpy, xxhash, zstandard"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).absolute()
    python, stamp = folder / "bin" / "python", folder / "made"
    wanted = f"{sys.version}\n{REQUIREMENTS.read_text(encoding='utf-8')}"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        if subprocess.run([python, "-c", IMPORTS], check=False).returncode == 0:
            print(f"{folder} is there")
            return 0
    shutil.rmtree(folder, ignore_errors=True)
    try:
        venv.create(folder, with_pip=True)
    except subprocess.CalledProcessError as error:
        print(f"{error}\non Debian the package python3-venv is needed", file=sys.stderr)
        return 1
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--only-binary", ":all:"]
    if subprocess.run([*pip, "--requirement", REQUIREMENTS], check=False).returncode != 0:
        print("the packages of the peers could not be installed; where there is no package index,", file=sys.stderr)
        print("-DDELTASCOPE_WITH_PEERS=OFF leaves the tests of label peers out", file=sys.stderr)
        return 1
    subprocess.run([python, "-c", IMPORTS], check=True)
    stamp.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
