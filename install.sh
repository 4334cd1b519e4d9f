#!/bin/sh
# Builds review-gate with the locked dependencies, installs it below PREFIX (default: ~/.local), and sets up its reviewers.
#
#   ./install.sh [--demo]      --demo also shows the gate at work in a throw-away repository: no key, no network
set -eu

say() { printf '%s\n' "$@"; }
fail() {
    printf 'install.sh: %s\n' "$@" >&2
    exit 1
}

demo=no
for argument in "$@"; do
    case $argument in
    --demo) demo=yes ;;
    -h | --help)
        say "usage: [PREFIX=DIR] ./install.sh [--demo]"
        exit 0
        ;;
    *) fail "unknown argument: $argument" "usage: [PREFIX=DIR] ./install.sh [--demo]" ;;
    esac
done

command -v cargo >/dev/null || fail "cargo is not on PATH: install a Rust toolchain (https://rustup.rs), open a new shell, and run this again"
command -v git >/dev/null || fail "git is not on PATH: install git and run this again"
prefix=${PREFIX:-${HOME:?neither PREFIX nor HOME is set}/.local}
case $prefix in
/*) ;;
*) prefix=$PWD/$prefix ;;
esac

case $0 in
*/*) cd "${0%/*}" ;;
esac
[ -f Cargo.toml ] || fail "run this file from a checkout of review-gate"
say "building; the first time this takes some minutes"
cargo install --locked --force --path . --root "$prefix" --bin review-gate || fail "the build failed; what is above says why"
gate=$prefix/bin/review-gate

# What follows can fail without taking the installation back; the exit status still tells.
status=0
say "" "looking for reviewers on this machine:"
"$gate" init || {
    status=$?
    say "install.sh: the reviewers are not set up; mend what is above and run: $gate init" >&2
}
if [ "$demo" = yes ]; then
    say ""
    "$gate" demo || {
        status=$?
        say "install.sh: the demo did not go as it should" >&2
    }
fi

say "" "installed: $gate"
case :$PATH: in
*":$prefix/bin:"*) ;;
*) say "next: put it on your PATH:  export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
say "next: in a repository to guard:  review-gate install"
exit "$status"
