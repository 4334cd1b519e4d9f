//! Slices: the change cut at file and hunk seams to a size, the same bytes giving the same slice.
