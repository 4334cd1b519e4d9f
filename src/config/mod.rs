//! Layers of configuration → what the stages need.
