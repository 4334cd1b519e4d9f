//! Findings, outcomes and policy → verdict with its grounds. Pure.
