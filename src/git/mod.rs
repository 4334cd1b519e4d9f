//! The only face of gix: open safely, push lines, ranges, verified reads.
