//! What can be seen of a packet's way: for traces. A run that nobody watches costs nothing for it.

use crate::packet::Packet;
use crate::program::Program;

/// Something that happens to a packet.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The parser enters a state.
    State(u32),
    /// A header was taken from the packet.
    Extracted(u32, &'a Packet),
    /// The key by which a state decides, and the state after it.
    Selected(&'a [u8], Option<u32>),
    /// Parsing ends with this error.
    ParserError(u64),
    /// A checksum does not hold: its number, the value it should have.
    BadChecksum(u32, u64),
    /// A checksum was written: its number, its value.
    Updated(u32, u64),
    /// A table was looked up.
    Lookup {
        /// Which.
        table: u32,
        /// The key.
        key: &'a [u64],
        /// The handle of the entry found.
        entry: Option<u32>,
        /// The action that runs and its data.
        call: Option<(u32, &'a [u8])>,
    },
    /// A condition was tested: where it stands, and what came out.
    Condition(&'a str, bool),
    /// An action runs that no table chose.
    Call(u32),
    /// The program says something.
    Log(&'a str),
    /// An `assert` does not hold.
    Assert(&'a str),
    /// The packet is at this point of the switch.
    At(Point),
    /// A header leaves.
    Emitted(u32, &'a Packet),
}

/// Points of the way through the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The packet came in at this port.
    Arrival(u32),
    /// The control ingress begins.
    Ingress,
    /// It is queued for this port.
    Queued(u32),
    /// The control egress begins, for this port.
    Egress(u32),
    /// It is dropped at the end of ingress.
    IngressDrop,
    /// It is dropped at the end of egress.
    EgressDrop,
    /// A copy is made, for this port.
    Cloned(u32),
    /// A copy of a multicast is made, for this port.
    Replicated(u32),
    /// It goes back to the beginning of ingress.
    Resubmitted,
    /// It goes round from egress.
    Recirculated,
    /// It leaves by this port.
    Departure(u32),
}

/// Who watches.
pub trait Observer {
    /// Whether anybody looks; events are not even made otherwise.
    const WATCHES: bool = true;

    /// Something has happened.
    fn see(&mut self, program: &Program, event: Event<'_>);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {
    const WATCHES: bool = false;

    #[inline]
    fn see(&mut self, _: &Program, _: Event<'_>) {}
}
