#!/bin/sh
# review-gate hook v1 (managed)
# Written by `review-gate install`, taken out by `review-gate uninstall`; edits are lost at the next install.
# Whatever fails in here refuses the commit.

gate=@GATE@
chained=@CHAINED@

refuse() {
    printf 'review-gate: %s\n' "$@" >&2
    exit 1
}

# A program that is gone, empty or another one must not answer in the gate's place: an empty file would run as a script that does nothing and succeeds.
answer=
[ -f "$gate" ] && [ -x "$gate" ] && answer=$("$gate" --version </dev/null 2>/dev/null)
case $answer in
"review-gate "[0-9]*) ;;
*)
    refuse "nothing was reviewed, so the commit is refused: there is no working review-gate at $gate" \
        "to mend it, install review-gate again and run \`review-gate install\` in this repository" \
        "to do without it, remove $0${chained:+ and rename $chained beside it to take its place}"
    ;;
esac

# The hook that was here before runs first: what it puts into the index is reviewed too.
if [ -n "$chained" ]; then
    case $0 in
    */*) chained=${0%/*}/$chained ;;
    *) chained=./$chained ;;
    esac
    [ -x "$chained" ] || refuse "the commit is refused: the hook that was here before cannot be run any more: $chained" \
        "restore it, or run \`review-gate install\` in this repository to go on without it"
    "$chained" "$@"
    status=$?
    if [ "$status" -ne 0 ]; then
        printf 'review-gate: the hook that was here before refused the commit (status %s): %s\n' "$status" "$chained" >&2
        exit "$status"
    fi
fi
exec "$gate" hook @HOOK@ >&2
