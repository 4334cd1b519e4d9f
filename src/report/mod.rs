//! One view model; one format a file; progress.
