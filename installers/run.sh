#!/bin/sh
# Installs what is missing, builds, and starts the live demo: a small model that trains, is published and followed, in
# a window where there is a display, else in the browser.
# usage: sh installers/run.sh [--build-only | --tour | --web | --both] [options of deltascope demo, such as --for 60]
set -eu
. "$(dirname "$0")/lib.sh"

install_packages installers/packages.txt
install_web
build release -DDELTASCOPE_WITH_TESTS=OFF
[ "${1:-}" = "--build-only" ] && exit 0

program=$ROOT/build/release/bin/deltascope
window=$ROOT/build/release/bin/deltascope-desktop
face=${1:-}
case $face in
--web | --both) shift ;;
--tour) ;;
*) face=--web && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && [ $# -eq 0 ] && face=--window ;;
esac
case $face in
--window)
    say "a live run, made by the engine, in a window; --web shows it in the browser, --both in both"
    exec "$window" --demo
    ;;
--web)
    say "a live run, made by the engine, in the browser; Ctrl+C ends it, and --tour shows sound and broken runs instead"
    exec "$program" demo --serve --open --dir "$ROOT/build/demo" "$@"
    ;;
--both)
    say "a live run, made by the engine, in the browser and in a window; closing the window ends it"
    "$program" demo --serve --open --dir "$ROOT/build/demo" "$@" &
    daemon=$!
    trap 'kill $daemon 2>/dev/null' EXIT INT TERM
    while [ ! -d "$ROOT/build/demo/bucket" ] && kill -0 $daemon 2>/dev/null; do sleep 0.2; done
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
say "and a broken run: a delta is lost, and nothing is rebuilt across the hole in silence"
tour log "$ROOT/tests/golden/trl-v2-gap-in-chain/bucket"
tour materialize "$ROOT/tests/golden/trl-v2-gap-in-chain/bucket@8" -o "$target/step_8" && exit 1
printf '(exit status %s)\n' $?

say "the program is at build/release/bin/deltascope; README.md goes on from here"
