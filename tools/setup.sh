#!/usr/bin/env bash
# Makes .venv from the hash-pinned requirements.lock and fetches a profile's models (default: fr).
# What is in place already is left alone; with nothing missing, nothing touches the network.
#
# usage: tools/setup.sh [PROFILE | --no-models]        PYTHON=... names the Python to use
set -euo pipefail
cd "$(dirname "$0")/.."

installed_from=.venv/installed-from

fail() {
    echo "error: $*" >&2
    exit 1
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        is_new_enough "$PYTHON" || fail "PYTHON=$PYTHON is not a Python 3.11 or newer"
        echo "$PYTHON"
        return
    fi
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11; do
        if is_new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    fail "no Python 3.11 or newer found (python3 is $(python3 --version 2>/dev/null || echo missing)); set PYTHON=/path/to/python"
}

make_venv() {
    local python
    python=$(find_python)
    echo "making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv ||
        fail "$python cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv"
}

install_packages() {
    echo "installing the packages of requirements.lock"
    local pip=(.venv/bin/python -m pip -qq --disable-pip-version-check)
    "${pip[@]}" install --require-hashes -r requirements.lock
    "${pip[@]}" install --no-deps --no-build-isolation --editable .
    cat requirements.lock pyproject.toml >"$installed_from"
}

.venv/bin/python -c '' 2>/dev/null || make_venv
if cat requirements.lock pyproject.toml | cmp -s - "$installed_from"; then
    echo ".venv: nothing to install, it is what requirements.lock says"
else
    install_packages
fi
[ "${1:-fr}" = --no-models ] || .venv/bin/relance models fetch "${1:-fr}"
