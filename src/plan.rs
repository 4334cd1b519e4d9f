//! Tier, author and reviewers → passes with their chains.
