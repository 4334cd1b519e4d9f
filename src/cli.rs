//! What can be typed.
