#!/bin/sh
# review-gate hook v1 (managed)
# Written by `review-gate install`, taken out by `review-gate uninstall`; edits are lost at the next install.
# Whatever fails in here refuses the push.

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
    refuse "nothing was reviewed, so the push is refused: there is no working review-gate at $gate" \
        "to mend it, install review-gate again and run \`review-gate install\` in this repository" \
        "to do without it, remove $0${chained:+ and rename $chained beside it to take its place}"
    ;;
esac
if [ -z "$chained" ]; then
    exec "$gate" hook pre-push --from-git -- "$@" >&2
fi

# The hook that was here before runs first. Both must see all of what git wrote, so it goes through a file, opened twice and unlinked at once.
case $0 in
*/*) chained=${0%/*}/$chained ;;
*) chained=./$chained ;;
esac
[ -x "$chained" ] || refuse "the push is refused: the hook that was here before cannot be run any more: $chained" \
    "restore it, or run \`review-gate install\` in this repository to go on without it"
lines=$(mktemp) || refuse "the push is refused: no temporary file for the lines that git wrote"
trap 'rm -f "$lines"' EXIT
trap 'exit 1' HUP INT TERM
cat >"$lines" || refuse "the push is refused: the lines that git wrote could not be stored"
exec 3<"$lines" 4<"$lines" || refuse "the push is refused: the lines that git wrote could not be read back"
rm -f "$lines"
trap - EXIT HUP INT TERM

"$chained" "$@" <&3 3<&- 4<&-
status=$?
if [ "$status" -ne 0 ]; then
    printf 'review-gate: the hook that was here before refused the push (status %s): %s\n' "$status" "$chained" >&2
    exit "$status"
fi
exec "$gate" hook pre-push --from-git -- "$@" <&4 3<&- 4<&- >&2
