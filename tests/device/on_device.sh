#!/bin/sh
# What only a machine with a CUDA device can show: the module's tests on it, alone and under each tool of
# compute-sanitizer, a trainer in C that publishes from it, and the benchmark of the kernels. Builds nothing.
#   tests/device/on_device.sh BUILD [OUT]     BUILD: as build/release, with deltascope_device_tests built
# OUT gets a log for each part. Ends with one line, and status 1 if a part failed; a part whose tool is missing is named
# and is no success.
set -u
build=${1:?folder of a build}
out=${2:-$build/on_device}
here=$(cd "$(dirname "$0")/../.." && pwd)
export DELTASCOPE_CUDA_MODULE="$build/lib/deltascope/libdeltascope_cuda.so"
tests="$build/bin/deltascope_device_tests"
rm -rf "$out"
mkdir -p "$out/held"
passed=0 failed=0

part() { # name, command...
    name=$1
    shift
    if "$@" > "$out/$name.log" 2>&1; then
        passed=$((passed + 1))
        echo "ok    $name"
    else
        failed=$((failed + 1))
        echo "FAIL  $name: $out/$name.log"
        tail -n 5 "$out/$name.log"
    fi
}

part describe nvidia-smi
part tests "$tests"
# The tools slow kernels down a hundred times: the largest cases are left out.
for tool in memcheck racecheck initcheck synccheck; do
    part "$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 "$tests" --gtest_brief=1 \
        --gtest_filter='-*Pipeline*:*ManyTensors*:*WholeBlocks*:*EveryPattern*'
done
part publish "$build/bin/deltascope-publish-steps" libcuda.so.1 "$out/run" 5 "$out/held" 0
part verify "$build/bin/deltascope" verify "$out/run" --level 4 --strict
part bench python3 "$here/tests/bench/device_bench.py" "$build/cuda/kernels.fatbin"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
