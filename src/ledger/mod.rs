//! The ledger: an append-only, hash-chained record in git's common directory, and the views that are folded from it.
//!
//! ```text
//!  <git common dir>/review-gate/            0700, ours, never a link            place.rs
//!  ├── turn-<key>                           0600, empty, there while its holder reviews                                 turn.rs
//!  └── ledger.jsonl                         0600, one record a line             store.rs  ─ lock, catch up, append, sync  (lock.rs)
//!        {"exit_code":0,…,"h":"…","kind":"run",…,"prev":"…","seq":7,…,"v":1}    record.rs ─ what is said   line.rs ─ how it is written
//!               │ fold                                                          history.rs
//!               └──► receipts · overrides · what waits · one line for people  receipt.rs overrides.rs (reason.rs) describe.rs
//! ```
//!
//! **Append, then fold.** Nothing is ever changed in place. A [`History`] exists only of a chain that was verified from its first record to its last, so a
//! view of a broken ledger cannot be asked for. A [`Recorded`] exists only after the record was synced to disk, so a pass without a trace cannot be claimed.
//!
//! **The line.** A record is one JSON object on one line of at most 64 KiB, keys sorted at every depth, no white space. Every record has `v`, `seq` (from 1, no
//! gaps), `prev` (the `h` of the record before; 64 zeros at first), `time` (UTC), `kind`, and `h`: the SHA-256 of the line's own text without its `h` member and
//! without the line end. No tool of ours is needed to check one:
//!
//! ```sh
//! sed -n 7p ledger.jsonl | sed 's/"h":"[0-9a-f]\{64\}",//' | tr -d '\n' | sha256sum
//! ```
//!
//! **What it proves.** A change, a removal or a reordering of records inside the chain is seen. The owner of the file can still rebuild or roll back the whole of
//! it; that only shows where a head has left the machine.
//!
//! Leaves to others: which words a run is described with (`commands/run.rs` builds the [`RunRecord`]), the exit status (every [`LedgerError`] is 14 at the edge),
//! and whether a recorded verdict may become a zero (`exit.rs`, which also wants an accepted verdict).

mod describe;
mod error;
mod history;
mod line;
mod lock;
mod overrides;
mod place;
mod reason;
mod receipt;
mod record;
mod store;
mod turn;

pub use describe::describe;
pub use error::LedgerError;
pub use history::{History, Report};
pub use overrides::{Override, Refusal, Refused, Standing, Waiting};
pub use reason::{InvalidOverride, Lifetime, Reason};
pub use receipt::{Receipt, ReceiptKey};
pub use record::{
    Basis, Event, FindingRecord, NoteRecord, OverrideRecord, Record, RefName, RepairRecord, ReviewerRecord, RunRecord, SubjectRecord, VerdictWord,
};
pub use store::{Ledger, Recorded};
pub use turn::Turns;
