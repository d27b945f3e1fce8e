#!/bin/sh
# Installs what is missing, builds, and starts the live demo: a small model that trains, is published and followed. Its
# page opens in the browser as soon as it can be shown; where there is a display, a window joins it once that is built.
# Closing the window ends the demo.
# usage: sh installers/run.sh [--with-cuda] [--build-only | --tour | --web] [options of deltascope demo, such as --for 60]
set -eu
began=$(date +%s)
. "$(dirname "$0")/lib.sh"

since() { printf '%s s' $(($(date +%s) - $1)); }

# build WHAT TARGET...: builds targets of the release preset.
build() {
    what=$1
    shift
    python3 -B installers/progress.py "$what" nice cmake --build --preset release --target "$@"
}

install_packages installers/packages.txt
install_web
if [ "${1:-}" = --with-cuda ]; then
    shift
    install_cuda
fi
say "packages: $(since "$began")"

began=$(date +%s)
say "building the program"
log=$(mktemp)
# Tests compile the kernels for one target alone, in the same folder.
cmake --preset release -UDELTASCOPE_CUDA_TARGETS >"$log" 2>&1 || { cat "$log"; rm -f "$log"; exit 1; }
rm -f "$log"
program=$ROOT/build/release/bin/deltascope
window=$ROOT/build/release/bin/deltascope-desktop
build "the program" deltascope

face=${1:-}
case $face in
--build-only | --tour | --web) shift ;;
*) [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && face=--both || face=--web ;;
esac
case $face in
--web | --both)
    say "a live run, made by the engine, in the browser, $(since "$began") after the packages; Ctrl+C ends it"
    "$program" demo --serve --open --dir "$ROOT/build/demo" "$@" &
    demo=$!
    trap 'kill $demo 2>/dev/null || true' EXIT
    trap 'exit 130' INT TERM
    ;;
esac
say "building the window"
build "the window" deltascope-desktop deltascope_icons
if grep -q "^DELTASCOPE_NVCC:[^=]*=/" build/release/CMakeCache.txt; then
    say "building the module for CUDA devices"
    build "the module" deltascope_cuda deltascope_device
fi
say "built, $(since "$began") after the packages: build/release/bin/deltascope and build/release/bin/deltascope-desktop"
case $face in
--build-only) exit 0 ;;
--web)
    wait $demo
    exit
    ;;
--both)
    say "the same run in a window; closing it ends the demo"
    while [ ! -d "$ROOT/build/demo/bucket" ] && kill -0 $demo 2>/dev/null; do sleep 0.2; done
    "$window" "$ROOT/build/demo/bucket"
    exit
    ;;
esac

bucket=$ROOT/tests/golden/trl-v2-gap/bucket
target=$ROOT/build/tour
rm -rf "$target"
mkdir -p "$target"

tour() {
    printf '\n$ deltascope'
    printf ' %s' "$@" | sed "s|$ROOT/||g"
    printf '\n'
    "$program" "$@" --quiet
}

say "a run of 15 steps, as a trainer left it in a folder"
tour log "$bucket"
say "prove it: replay every delta, compare the anchor with what the deltas lead to"
tour verify "$bucket@1..10" --level 4
say "another layout records digests, so every step can be verified against its publisher"
tour verify "$ROOT/tests/golden/slime-v2-xor/bucket" --base "$ROOT/tests/golden/slime-v2-xor/base" --level 3
say "what changed between two steps"
tour diff "$bucket@12" "$bucket@15"
say "one command to a full checkpoint"
tour materialize "$bucket@15" -o "$target/step_15"
say "with the base it has a config.json, too: transformers loads it"
tour materialize "$ROOT/tests/golden/slime-v2-xor/bucket@9" --base "$ROOT/tests/golden/slime-v2-xor/base" -o "$target/step_9"
say "and a broken run: a delta is lost, and nothing is rebuilt across the hole in silence"
tour log "$ROOT/tests/golden/trl-v2-gap-in-chain/bucket"
tour materialize "$ROOT/tests/golden/trl-v2-gap-in-chain/bucket@8" -o "$target/step_8" && exit 1
printf '(exit status %s)\n' $?

say "the program is at build/release/bin/deltascope; README.md goes on from here"
