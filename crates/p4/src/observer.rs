//! Observation of a packet's path, for traces. A run without an observer does not pay for it.

use crate::packet::Packet;
use crate::program::Program;

/// An event in the processing of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The parser enters a state.
    State(u32),
    Extracted(u32, &'a Packet),
    /// A state's key, and the next state.
    Selected(&'a [u8], Option<u32>),
    /// Parsing ends with this error.
    ParserError(u64),
    /// A checksum is wrong: its number, and the correct value.
    BadChecksum(u32, u64),
    /// A checksum has been written: its number and value.
    Updated(u32, u64),
    Lookup {
        table: u32,
        key: &'a [u64],
        /// Handle of the matching entry.
        entry: Option<u32>,
        /// The action to run, with its data.
        call: Option<(u32, &'a [u8])>,
    },
    /// A condition with its place in the source, and its result.
    Condition(&'a str, bool),
    /// An action runs without a table.
    Call(u32),
    Log(&'a str),
    /// A failed `assert`.
    Assert(&'a str),
    At(Point),
    Emitted(u32, &'a Packet),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    Arrival(u32),
    Ingress,
    Queued(u32),
    /// The egress control begins, for this port.
    Egress(u32),
    IngressDrop,
    EgressDrop,
    Cloned(u32),
    Replicated(u32),
    /// The packet returns to the beginning of ingress.
    Resubmitted,
    Recirculated,
    Departure(u32),
}

pub trait Observer {
    /// Whether anybody observes; otherwise the events are not even created.
    const WATCHES: bool = true;

    fn see(&mut self, program: &Program, event: Event<'_>);
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {
    const WATCHES: bool = false;

    #[inline]
    fn see(&mut self, _: &Program, _: Event<'_>) {}
}
