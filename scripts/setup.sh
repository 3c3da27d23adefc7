# Set-up shared by ./run, ./test and ./hitless: sourced, never run. Everything it says goes to stderr.
#
# ensure_runtime   .venv with the locked packages and the simulator built into it
# ensure_tools     the packages and programs that the tests need, without the build
# Both return at once when nothing has changed since the last time.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"
stamps="$venv/.hitless" # what was set up last

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "error: $1"
    shift
    printf '  %s\n' "$@" >&2
    exit 1
}

# version_at_least HAVE WANT
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

check_python() {
    local hint="Debian 12 or newer: apt-get install python3 python3-venv"
    command -v python3 >/dev/null || fail "python3 is missing" "$hint"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "python3 is $(python3 -V | cut -d' ' -f2), and 3.11 or newer is needed" "$hint"
    python3 -c 'import venv, ensurepip' 2>/dev/null || fail "python3 has no venv module" "$hint"
}

check_cargo() {
    local want have
    local hint="Debian 13 or newer: apt-get install rustup && rustup default stable; elsewhere: the Rust project's rustup"
    want="$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)"
    command -v cargo >/dev/null || fail "cargo is missing (Rust $want or newer)" "$hint"
    have="$(cargo --version | cut -d' ' -f2)"
    version_at_least "$have" "$want" || fail "cargo is $have, and $want or newer is needed" "$hint"
}

check_linker() {
    command -v cc >/dev/null || fail "cc, the C compiler that links the simulator, is missing" \
        "Debian: apt-get install gcc libc6-dev"
}

check_tools() {
    check_python
    check_cargo
    check_linker
}

# Identity of the packages asked for: the lock file and the interpreter they are for.
packages_key() { { cat "$root"/python/requirements*.txt; python3 -V; } | sha256sum | cut -d' ' -f1; }

# install_packages NAME: the packages of python/NAME.txt
install_packages() {
    local stamp="$stamps/$1" key
    key="$(packages_key)"
    [ "$(cat "$stamp" 2>/dev/null)" != "$key" ] || return 0
    check_tools
    [ -x "$venv/bin/python" ] || { say "making .venv"; python3 -m venv "$venv" >&2; }
    say "installing the packages of python/$1.txt into .venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$root/python/$1.txt" >&2 ||
        fail "pip could not install python/$1.txt" "its message is above"
    mkdir -p "$stamps"
    printf '%s\n' "$key" >"$stamp"
}

# How the native module is compiled: a profile of Cargo.toml.
profile="${HITLESS_PROFILE:-release}"

# Was it compiled so, and is nothing that goes into it newer?
native_is_current() {
    [ "$(cat "$stamps/native" 2>/dev/null)" = "$profile" ] && compgen -G "$root/python/hitless/_native*.so" >/dev/null &&
        [ -z "$(find "$root/crates" "$root/data" "$root"/examples/*.toml "$root/Cargo.toml" "$root/Cargo.lock" "$root/pyproject.toml" \
            -newer "$stamps/native" -type f -print -quit)" ]
}

build_native() {
    ! native_is_current || return 0
    check_tools
    local began="$stamps/native.began" before
    before="$(cat "$stamps/native" 2>/dev/null || true)"
    [ "${before:-$profile}" = "$profile" ] ||
        say "the profile is $profile now and was $before: HITLESS_PROFILE=$before keeps the old one"
    say "building the simulator (a few minutes the first time)"
    printf '%s\n' "$profile" >"$began"
    (
        cd "$root"
        unset CONDA_PREFIX
        # pip finds every requirement already installed and would say so, package by package.
        PIP_QUIET=1 MATURIN_NO_MISSING_BUILD_BACKEND_WARNING=1 VIRTUAL_ENV="$venv" \
            "$venv/bin/maturin" develop --profile "$profile"
    ) >&2 || fail "the simulator could not be built" "the compiler's message is above"
    # The time the build began, so that a file saved during it counts as changed.
    mv "$began" "$stamps/native"
}

# Types of scenarios, from the schema in the simulator: 0.1 s, and only after a build or a change of the script.
write_types() {
    local types="$root/python/hitless/types.py" script="$root/scripts/scenario-types"
    { [ "$types" -nt "$stamps/native" ] && [ "$types" -nt "$script" ]; } || "$venv/bin/python" "$script" --write
}

# build_wheel FOLDER [SOURCE]: a wheel of the checkout or of an unpacked source distribution, built as pip builds it
build_wheel() {
    PATH="$venv/bin:$PATH" "$venv/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps \
        --no-build-isolation --wheel-dir "$1" "${2:-$root}"
}

# Real programs that tests put at the ends of what they test: PROGRAM:PACKAGE. Without root the tests that need a missing
# one are skipped, and say so.
test_programs="chromium:chromium redis-server:redis-server redis-benchmark:redis-tools iperf3:iperf3 curl:curl ip:iproute2 ping:iputils-ping \
    tshark:tshark tcpdump:tcpdump"

# Ray has no package for some Pythons and processors: without it its tests are skipped, and say so.
install_ray() {
    (install_packages requirements-ray) || say "Ray could not be installed, so the tests that need it are skipped"
}

install_test_programs() {
    local pair packages=""
    for pair in $test_programs; do
        command -v "${pair%%:*}" >/dev/null || packages="$packages ${pair##*:}"
    done
    [ -n "$packages" ] || return 0
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        say "missing, so the tests that need them are skipped (Debian: apt-get install$packages)"
        return 0
    fi
    say "installing for the tests:$packages"
    # shellcheck disable=SC2086 # they are words
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages; } \
        >/dev/null 2>&1 || say "could not be installed, so the tests that need them are skipped:$packages"
}

# promtool checks the alert rules. Its package would start a server, so it is only unpacked; this needs no root.
install_promtool() {
    local folder="$root/.cache/promtool"
    command -v promtool >/dev/null || [ -x "$folder/promtool" ] && return 0
    rm -rf "$folder"
    mkdir -p "$folder"
    (cd "$folder" && apt-get download -qq prometheus && dpkg -x prometheus_*.deb . && mv usr/bin/promtool .) >/dev/null 2>&1 ||
        say "promtool could not be fetched, so the test of the alert rules is skipped (Debian: apt-get install prometheus)"
    rm -rf "$folder"/*.deb "$folder"/[eluv]*/
}

# One set-up at a time: two commands started together would install over each other.
with_lock() {
    mkdir -p "$root/.cache"
    exec 9>"$root/.cache/setup.lock"
    flock 9
    "$@"
    exec 9>&-
}

# A large fabric touches its memory at random: pages of 2 MB spare the processor most look-ups of addresses.
use_large_pages() { export GLIBC_TUNABLES="${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}glibc.malloc.hugetlb=1"; }
setup_runtime() { install_packages requirements; build_native; write_types; }
setup_tools() { install_packages requirements; install_packages requirements-dev; install_ray; install_test_programs; install_promtool; }

ensure_runtime() {
    with_lock setup_runtime
    use_large_pages
}
ensure_tools() { with_lock setup_tools; }
