#!/bin/sh
# Installs what is missing, builds and runs every test. Ends with one line: N passed, M failed.
# usage: sh installers/test.sh
# DELTASCOPE_KILLS: how often the kill test kills (200). DELTASCOPE_FUZZ_SECONDS: libFuzzer time per parser (5).
set -eu
. "$(dirname "$0")/lib.sh"

passed=0
failed=0
failures=$(mktemp) # what failed and what it printed, told again at the end: logs are read from there
trap 'rm -f "$failures"' EXIT

# run_suite NAME PRESET CTEST-ARGUMENT...: runs CTest and adds what it counted.
run_suite() {
    name=$1
    preset=$2
    shift 2
    say "$name"
    log=$ROOT/build/$preset/tests.log
    ctest --preset "$preset" --output-junit "$ROOT/build/$preset/tests.xml" "$@" >"$log" 2>&1 || true
    told=$(grep -vE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed|^ +Start +[0-9]+:' "$log" || true)
    printf '%s\n' "$told"
    total=$(sed -n 's/.*tests failed out of \([0-9]*\).*/\1/p' "$log" | tail -n 1)
    bad=$(sed -n 's/.*, \([0-9]*\) tests failed out of .*/\1/p' "$log" | tail -n 1)
    if [ -z "$total" ] || [ "$total" -eq 0 ]; then
        say "$name ran no test" | tee -a "$failures"
        failed=$((failed + 1))
        return 0
    fi
    passed=$((passed + total - bad))
    failed=$((failed + bad))
    if [ "$bad" -gt 0 ]; then printf '\n== %s: %s failed\n%s\n' "$name" "$bad" "$told" >>"$failures"; fi
}

# count NAME COMMAND...: one check that is not a CTest test; what it prints is told if it fails.
count() {
    name=$1
    shift
    say "$name"
    if told=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s\n' "$told"
        printf '\n== %s failed\n%s\n' "$name" "$told" >>"$failures"
    fi
}

install_packages installers/packages.txt installers/packages-test.txt
install_web
count "form of the code: clang-format" sh -c \
    'find app engine tests ui/desktop -name "*.cpp" -o -name "*.h" | xargs clang-format --dry-run -Werror'
build release -DDELTASCOPE_WITH_TESTS=ON -DDELTASCOPE_WERROR=ON
run_suite "tests of the release build" release --parallel 2

build asan
run_suite "unit tests and fuzz seeds under ASan and UBSan" asan --parallel 2 --label-regex "unit|fuzz"
build tsan
run_suite "unit tests of what has threads, under TSan" tsan --parallel 2 --label-regex unit

build fuzz
for parser in build/fuzz/bin/fuzz_*; do
    corpus=$(mktemp -d)
    count "libFuzzer: $(basename "$parser")" "$parser" -max_total_time="${DELTASCOPE_FUZZ_SECONDS:-5}" -timeout=10 \
        -rss_limit_mb=1024 -verbosity=0 -artifact_prefix=build/fuzz/ "$corpus" "tests/fuzz/seeds/$(basename "$parser" | sed 's/^fuzz_//')"
    rm -rf "$corpus"
done

if [ "$failed" -gt 0 ]; then cat "$failures"; fi
printf '\n%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
