# Shared by run.sh and test.sh; sourced, not run. Sets ROOT and provides say, install_packages, install_web, build.
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

# install_web: what the web page is built with. Any Node from 18 on will do, wherever it comes from.
install_web() {
    if command -v npm >/dev/null 2>&1; then
        return 0
    fi
    install_packages installers/packages-web.txt
}

# build PRESET [OPTION...]: configures and builds a CMake preset.
build() {
    preset=$1
    shift
    say "building ($preset)"
    cmake --preset "$preset" "$@" >"$ROOT/build-$preset.log" 2>&1 || { cat "$ROOT/build-$preset.log"; rm -f "$ROOT/build-$preset.log"; return 1; }
    rm -f "$ROOT/build-$preset.log"
    cmake --build --preset "$preset"
}
