//! Records the inputs and decisions of a live run in a file, and repeats the run in simulation.
//!
//! A run is a function of its scenario, its arrivals and its commands. The file holds these and the resulting
//! decisions; [`replay`] repeats the run without a clock and compares each decision with the recorded one.
//!
//! # Format
//! The file consists of the line `hitless recording 1`, a header, and records up to its end. The header is a JSON
//! object preceded by its length, a varint. A varint is a number in groups of 7 bits, lowest first, with the top bit
//! set on all but the last byte. A record is a byte with its type, the time since the previous record in picoseconds (a
//! varint), and
//!
//! | byte | record | contents |
//! |---|---|---|
//! | 1 | arrival | point, length of the frame, bytes kept, these bytes; if not all, 8 bytes: hash of the rest |
//! | 2 | command | length, its text |
//! | 3 | decision | packet, switch, action (one byte), port, queue (one byte) |
//! | 4 | refusal | point: an interface had no room for a frame that left |
//! | 5 | end | 0 if complete, 1 if the recording was cut short before the run's end |
//!
//! Numbers are varints unless stated otherwise. A file without an end record was cut by a crash; its records can be
//! replayed.

mod format;
mod read;
mod replay;
mod write;

pub use format::{Header, LinkEnd, mac_address};
pub use replay::{Divergence, Replay, replay, replay_with};
pub use write::{Recorder, RecorderOptions, RecordingState};
