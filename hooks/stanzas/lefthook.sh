exec review-gate hook @HOOK@
