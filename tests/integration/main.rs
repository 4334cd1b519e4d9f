//! One integration binary, modules by story. Everything here starts the real program, with real git and a scripted reviewer on the loopback interface.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests start children, wait and unwrap; the lints guard the program")]

mod common;

mod ahead;
mod author;
mod cases_bytes;
mod cases_formats;
mod cases_process;
mod cases_range;
mod cases_staged;
mod commit;
mod config;
mod coverage;
mod demo;
mod diff;
mod doctor;
mod faults;
mod forks;
mod framework;
mod git_lies;
mod help;
mod install;
mod interrupt;
mod layouts;
mod ledger;
mod managers;
mod overrides;
mod passes;
mod peers;
mod push;
mod push_shapes;
mod races;
mod readme;
mod receipts;
mod regression;
mod reports;
mod secrets;
mod sizes;
mod tiers;
