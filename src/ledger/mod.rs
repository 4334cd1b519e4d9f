//! The append-only, hash-chained record and the views folded from it.
