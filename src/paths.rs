//! Path rules, built-in and of the policy; the only user of globset.
