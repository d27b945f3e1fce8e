#!/usr/bin/env python3
"""Makes a virtual environment of the peers: make_venv.py FOLDER REQUIREMENTS...

Does nothing if it is there and fits the files of requirements. Packages come from the package index that pip of this
machine uses, as wheels only; those of requirements-debian-torch.txt stand on Debian's python3-torch, whose Python is
used then. A failure is an error, never a skip.
"""

import pathlib
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
IMPORTS = {
    "requirements.txt": "import blake3, boto3, hf_xet, huggingface_hub, numpy, safetensors.numpy, xxhash, zstandard",
    "requirements-transformers.txt": "import torch, transformers",
    "requirements-debian-torch.txt": "import accelerate, torch, transformers",
}
DEBIAN_PYTHON = "/usr/bin/python3"


def main():
    names = sys.argv[2:]
    if not names or not IMPORTS.keys() >= set(names):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).absolute()
    files = [HERE / name for name in names]
    imports = "; ".join(IMPORTS[name] for name in names)
    python, stamp = folder / "bin" / "python", folder / "made"
    wanted = "\n".join([sys.version, *(file.read_text(encoding="utf-8") for file in files)])
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        if subprocess.run([python, "-c", imports], check=False).returncode == 0:
            print(f"{folder} is there")
            return 0
    shutil.rmtree(folder, ignore_errors=True)
    try:
        if "requirements-debian-torch.txt" in names:
            subprocess.run([DEBIAN_PYTHON, "-m", "venv", "--system-site-packages", folder], check=True)
        else:
            venv.create(folder, with_pip=True)
    except subprocess.CalledProcessError as error:
        print(f"{error}\non Debian the package python3-venv is needed", file=sys.stderr)
        return 1
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--only-binary", ":all:"]
    options = [option for file in files for option in ("--requirement", file)]
    if subprocess.run([*pip, *options], check=False).returncode != 0:
        print("the packages of the peers could not be installed; where there is no package index,", file=sys.stderr)
        print("-DDELTASCOPE_WITH_PEERS=OFF leaves the tests of label peers out", file=sys.stderr)
        return 1
    subprocess.run([python, "-c", imports], check=True)
    stamp.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
