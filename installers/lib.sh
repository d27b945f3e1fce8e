# Shared by run.sh and test.sh; sourced, not run. Sets ROOT and provides say, install_packages, install_web and
# install_cuda.
ROOT=$(cd "$(dirname "$0")/.." && pwd)
cd "$ROOT"

say() { printf '\n== %s\n' "$*"; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@"
    else
        printf 'root rights are needed for: %s\n' "$*" >&2
        return 1
    fi
}

# install_packages FILE...: installs what is missing of the Debian packages listed in the files.
install_packages() {
    missing=
    for package in $(sed 's/#.*//' "$@"); do
        case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
            *"ok installed") ;;
            *) missing="$missing $package" ;;
        esac
    done
    if [ -z "$missing" ]; then
        say "all Debian packages are there"
        return 0
    fi
    say "installing:$missing"
    as_root apt-get update -q
    # shellcheck disable=SC2086 # a list of package names
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}

# install_web: what the web page is built with, then its own packages. Any Node from 18 on will do, wherever it comes from.
install_web() {
    command -v npm >/dev/null 2>&1 || install_packages installers/packages-web.txt
    say "npm packages of the web page"
    (cd ui/web && cmake -DNPM="$(command -v npm)" -P "$ROOT/app/cmake/install_packages.cmake")
}

# install_cuda: the compiler of the kernels, in build/cuda-toolkit, where cuda/CMakeLists.txt looks first.
install_cuda() {
    install_packages installers/packages-cuda.txt
    toolkit=build/cuda-toolkit
    if cmp -s installers/cuda-wheels.txt $toolkit/made; then
        say "the compiler for CUDA is there"
        return 0
    fi
    say "the compiler for CUDA"
    rm -rf $toolkit
    python3 -m venv $toolkit
    $toolkit/bin/pip install -q --disable-pip-version-check --only-binary :all: -r installers/cuda-wheels.txt
    cp installers/cuda-wheels.txt $toolkit/made
}
