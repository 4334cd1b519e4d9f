review-gate hook @HOOK@ || exit 1
