exec review-gate hook pre-push --from-git -- "$@"
