#!/bin/sh
# Installs what is missing, builds and runs every test. Ends with a table of what it cost and one line: N passed, M failed.
# usage: sh installers/test.sh [--long]
# --long adds what is too long for each change: sweeps whole, the window under sanitizers, transformers. DELTASCOPE_SLICE chooses what
# sweeps try otherwise: a whole number, by default the days since 1970.
set -eu
began=$(date +%s)
. "$(dirname "$0")/lib.sh"

install_packages installers/packages.txt installers/packages-test.txt
install_web
install_cuda
exec python3 -B tests/runner/main.py --began "$began" "$@"
