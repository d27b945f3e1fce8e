#!/usr/bin/env python3
"""Arrows point one way: ui -> app -> engine -> base, cuda -> engine. What the compiler cannot catch is looked for here.

usage: check_arrows.py REPOSITORY
"""
import pathlib
import re
import sys

SOURCE = {".h", ".cpp", ".cu", ".cuh"}
LOOP_OVER_CALL = r"\bfor \([^;]* : ([^;]*\w(<.*>)?\([^;]*\)->[\w.>-]+|\*[\w:.>-]+\([^;]*\))\)( \{)?$"
RULES = [
    # folder, pattern that must not occur, why[, folder where it may]
    ("engine", r'#\s*include\s*[<"](deltascope/(app|cuda|ui)/|Q[A-Z])', "the engine knows neither app nor ui nor cuda nor Qt"),
    ("engine/include", r'#\s*include\s*<nlohmann/|#\s*include\s*<sqlite3|#\s*include\s*<zstd', "no third-party header in the public API"),
    ("engine", r"std::(cout|cerr|clog)|\bprintf\s*\(", "the engine prints nothing"),
    ("engine/include/deltascope/base", r'#\s*include\s*"deltascope/engine', "base knows nothing of the engine"),
    ("engine", r'#\s*include\s*<curl/', "engine/src/http alone talks to libcurl", "engine/src/http"),
    ("engine/src/http", r'#\s*include\s*"(deltascope/engine/(?!http)|(\.\./)*(store|format|catalog|ops|replay|lineage)/)', "the HTTP client knows nobody who uses it"),
    ("engine/src/format", r'#\s*include\s*"(\.\./)*(store|catalog|ops|replay|lineage)/', "formats see neither stores nor operations"),
    ("engine/src/store", r'#\s*include\s*"(\.\./)*(format|catalog|ops|replay|lineage)/', "stores see no formats and no operations"),
    ("app", r'#\s*include\s*<curl/', "engine/src/http alone talks to libcurl"),
    ("ui", r'#\s*include\s*<curl/', "engine/src/http alone talks to libcurl"),
    ("app", r'#\s*include\s*[<"](deltascope/ui/|Q[A-Z])', "app is free of Qt"),
    ("app/include", r'#\s*include\s*"deltascope/engine|#\s*include\s*<nlohmann/', "faces reach the engine through app only"),
    ("app/src/cli", r'#\s*include\s*"deltascope/engine', "the CLI is a client of the service"),
    ("ui", r'#\s*include\s*[<"]deltascope/engine', "ui reaches the engine through app only"),
    ("engine", r'^(?!\s*//).*"[^"]*\.deltascope\b', "beside_keys.h alone spells the keys beside a run", "engine/include/deltascope/engine/beside_keys.h"),
    ("app", r'^(?!\s*//).*"[^"]*\.deltascope\b', "beside_keys.h alone spells the keys beside a run"),
    ("engine/src/beside", r'#\s*include\s*"(\.\./)*(format|catalog|ops|replay|lineage|publish)/', "what stands beside a run knows stores alone"),
    ("engine", r'#\s*include\s*"(\.\./)*state/(chain|chain_walk|tensor_replay)\.h"', "states are read by walks, paths through PathState", "engine/src/state"),
    ("engine/src/backend", r'#\s*include\s*"(\.\./)*(format|store|catalog|replay|audit|state|ops|lineage|publish)/', "what compares bytes knows nothing of where they come from"),
    ("engine/src/device", r'#\s*include\s*"(\.\./)*(format|store|catalog|replay|audit|state|ops|lineage|publish)/', "what works on a device knows nothing of where bytes come from"),
    ("cuda", r'#\s*include\s*"deltascope/(app|ui)|#\s*include\s*"(diff|device|format|store|ops)/', "cuda sees public headers of the engine alone"),
    ("engine/src/replay", r'#\s*include\s*"(\.\./)*(audit|state|ops|publish|acts)/', "a replay knows nothing of what is done with it"),
    ("engine/src/audit", r'#\s*include\s*"(\.\./)*(state|ops|publish|acts)/', "an audit looks on and reads nothing"),
    ("engine/src/state", r'#\s*include\s*"(\.\./)*(ops|publish|acts)/', "states know nothing of operations"),
    ("app", r"TensorReplay", "states are read by walks"),
    ("ui", r"processEvents\s*\(", "no nested event loops"),
    *((folder, LOOP_OVER_CALL, "what a call returns may be gone inside of the loop: give it a name first")
      for folder in ("engine", "app", "cuda", "ui/desktop", "tests")),
]


def main():
    root = pathlib.Path(sys.argv[1])
    files = checked = 0
    broken = []
    for folder, pattern, why, *allowed in RULES:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCE or any(path.is_relative_to(root / place) for place in allowed):
                continue
            files += 1
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                checked += 1
                if re.search(pattern, line):
                    broken.append(f"{path.relative_to(root)}:{number}: {why}: {line.strip()}")
    for line in broken:
        print(line)
    print(f"{len(RULES)} rules, {files} looks at files, {checked} lines, {len(broken)} broken")
    sys.exit(1 if broken or files == 0 else 0)


if __name__ == "__main__":
    main()
