lines=$(mktemp) || exit 1
trap 'rm -f "$lines"' EXIT
cat >"$lines" || exit 1
review-gate hook pre-push --from-git -- "$@" <"$lines" || exit 1
exec <"$lines"
