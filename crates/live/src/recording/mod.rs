//! What a live run received and decided, in a file; and the same run once more, in simulation.
//!
//! A run is a function of its scenario, its arrivals and its commands. The file holds these, and the decisions that
//! followed; [`replay`] repeats the run without a clock and compares each decision with the one in the file.
//!
//! # Format
//! The line `hitless recording 1`, a header, and records up to the end of the file. The header is a JSON object behind
//! its length, a varint. A varint is a number in groups of 7 bits, lowest first, with the top bit set on all but the
//! last byte. A record is a byte that says what it is, the time since the record before it in picoseconds (a varint),
//! and
//!
//! | byte | record | what follows |
//! |---|---|---|
//! | 1 | arrival | point, length of the frame, bytes kept, these bytes; if not all, 8 bytes: hash of the rest |
//! | 2 | command | length, its text |
//! | 3 | decision | packet, switch, action (one byte), port, queue (one byte) |
//! | 4 | refusal | point: an interface had no room for a frame that left |
//! | 5 | end | 0 when all is there, 1 when the recording was cut short before the run's end |
//!
//! Numbers are varints unless it says otherwise. A file that does not end with an end record was cut by a crash; what
//! is there can be replayed.

mod format;
mod read;
mod replay;
mod write;

pub use format::{Header, LinkEnd, mac_address};
pub use replay::{Divergence, Replay, replay, replay_with};
pub use write::{Recorder, RecorderOptions, RecordingState};
