//! The change as git prints it: unified diff text, byte for byte.
