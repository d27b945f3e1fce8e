#!/usr/bin/env python3
"""What token huggingface_hub sends in which environment: hub_token_cases.py prints tests/golden/hub/token_cases.json.

Each case names variables and files; "HOME" of a case is a folder made for it, and "{home}" in values stands for it.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ASK = """
import json
from huggingface_hub import constants
from huggingface_hub.utils import build_hf_headers
print(json.dumps({"token": build_hf_headers().get("authorization", "").removeprefix("Bearer "),
                  "endpoint": constants.ENDPOINT, "offline": constants.HF_HUB_OFFLINE}))
"""

USUAL = {".cache/huggingface/token": "hf_usual\n"}
CASES = [
    ({}, {}),
    ({}, USUAL),
    ({}, {".cache/huggingface/token": " \n"}),
    ({}, {".cache/huggingface/token": "  hf_blanks \r\n\r\n"}),
    ({"HF_TOKEN": "hf_first", "HUGGING_FACE_HUB_TOKEN": "hf_second"}, USUAL),
    ({"HF_TOKEN": "", "HUGGING_FACE_HUB_TOKEN": "hf_second"}, USUAL),
    ({"HUGGING_FACE_HUB_TOKEN": " hf_second\n"}, USUAL),
    ({"HF_TOKEN": " \n", "HUGGING_FACE_HUB_TOKEN": "hf_second"}, USUAL),
    ({"HF_TOKEN": "hf_li\nne"}, {}),
    ({"HF_TOKEN_PATH": "{home}/elsewhere"}, {**USUAL, "elsewhere": "hf_elsewhere"}),
    ({"HF_TOKEN_PATH": "{home}/missing"}, USUAL),
    ({"HF_TOKEN_PATH": "~/elsewhere"}, {**USUAL, "elsewhere": "hf_elsewhere"}),
    ({"HF_TOKEN_PATH": "$PLACE/elsewhere", "PLACE": "{home}/deep"}, {"deep/elsewhere": "hf_deep"}),
    ({"HF_TOKEN_PATH": "${PLACE}/elsewhere", "PLACE": "{home}/deep"}, {"deep/elsewhere": "hf_deep"}),
    ({"HF_TOKEN_PATH": "{home}/$UNSET_PLACE/t"}, {"$UNSET_PLACE/t": "hf_dollar"}),
    ({"HF_HOME": "{home}/hf"}, {**USUAL, "hf/token": "hf_home"}),
    ({"HF_HOME": "~/hf"}, {**USUAL, "hf/token": "hf_home"}),
    ({"HF_HOME": "{home}/hf/"}, {**USUAL, "hf/token": "hf_home"}),
    ({"HF_HOME": "$PLACE/hf", "PLACE": "{home}"}, {"hf/token": "hf_home"}),
    ({"HF_HOME": "{home}/hf", "XDG_CACHE_HOME": "{home}/xdg"}, {"hf/token": "hf_home", "xdg/huggingface/token": "hf_xdg"}),
    ({"XDG_CACHE_HOME": "{home}/xdg"}, {**USUAL, "xdg/huggingface/token": "hf_xdg"}),
    ({"XDG_CACHE_HOME": "~/xdg"}, {**USUAL, "xdg/huggingface/token": "hf_xdg"}),
    ({"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1", "HF_TOKEN": "hf_first"}, USUAL),
    ({"HF_HUB_DISABLE_IMPLICIT_TOKEN": "True"}, USUAL),
    ({"HF_HUB_DISABLE_IMPLICIT_TOKEN": "0"}, USUAL),
    ({"HF_HUB_DISABLE_IMPLICIT_TOKEN": "off"}, USUAL),
    ({"HF_ENDPOINT": "https://hub.example.org//"}, {}),
    ({"HF_ENDPOINT": "https://hub.example.org/path/"}, {}),
    ({"HF_HUB_OFFLINE": "1"}, {}),
    ({"HF_HUB_OFFLINE": "yes"}, {}),
    ({"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "1"}, {}),
    ({"HF_HUB_OFFLINE": "", "TRANSFORMERS_OFFLINE": "on"}, {}),
]


def answer(variables, files):
    with tempfile.TemporaryDirectory() as home:
        for name, text in files.items():
            path = pathlib.Path(home, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        environment = {"HOME": home, "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        environment.update({k: v.replace("{home}", home) for k, v in variables.items()})
        run = subprocess.run([sys.executable, "-c", ASK], env=environment, cwd=home, check=True, capture_output=True)
        return {"variables": variables, "files": files, **json.loads(run.stdout)}


def main():
    json.dump([answer(*case) for case in CASES], sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
