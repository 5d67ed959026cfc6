#!/bin/sh
# Make sure that what the Makefile needs is there: Python >= 3.11 with venv, Rust >= 1.88, a C linker; with
# "tests" also Chromium for the report's browser test and valgrind to count instructions. Installs Debian packages where it may, says how otherwise.
set -eu

install() {
    if ! command -v apt-get >/dev/null; then
        return 1
    fi
    if [ "$(id -u)" = 0 ]; then as_root=""; elif sudo -n true 2>/dev/null; then as_root="sudo"; else return 1; fi
    echo "installing $*" >&2
    $as_root apt-get -qq update >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive $as_root apt-get -qq install -y --no-install-recommends "$@" >/dev/null
}

fail() {
    echo "error: $1" >&2
    echo "hint: $2" >&2
    exit 1
}

python=${PYTHON:-python3}
command -v "$python" >/dev/null || install python3 python3-venv || fail "no $python" "install Python 3.11 or later"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$("$python" --version) is too old" "install Python 3.11 or later, or say make PYTHON=/path/to/python3.11"
"$python" -c 'import venv, ensurepip' 2>/dev/null || install python3-venv || fail "$python has no venv module" "apt-get install python3-venv"
command -v cc >/dev/null || install gcc libc6-dev || fail "no C linker (cc)" "apt-get install gcc libc6-dev"
command -v cargo >/dev/null || fail "no Rust toolchain (cargo)" "install Rust 1.88 or later, see https://rustup.rs"
minor=$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
[ "${minor:-0}" -ge 88 ] || fail "$(cargo --version) is too old" "install Rust 1.88 or later: rustup update stable"
if [ "${1:-}" = tests ]; then
    command -v valgrind >/dev/null || install valgrind || echo "note: no valgrind: instructions will not be counted" >&2
    if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
        install chromium chromium-driver || echo "note: no chromium and chromium-driver: the browser test will be skipped" >&2
    fi
fi
