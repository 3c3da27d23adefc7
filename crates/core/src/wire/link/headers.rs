//! The headers that can be on a link, and the rules for a frame from any sender.
//!
//! These rules need no state. The mechanism decides how far a number can be from the previous one.

use super::refusal::Refusal;
use crate::wire::priority_mark::PriorityMark;
use crate::wire::shim::{CheckNumber, DetourCount, Shim, ShimId, ShimStack};

/// A header that is sent on links.
#[derive(Clone, Copy, Debug)]
pub struct LinkHeader {
    code: u8,
    id: ShimId,
    wire_bytes: u32,
    is_off_path: bool,
    truncates_payload: bool,
    parse: fn(&[u8], &mut ShimStack) -> Result<usize, Refusal>,
}

impl LinkHeader {
    /// Describes the header `S` with the number `code` on links. The code never changes and is unique in a fabric;
    /// codes of 128 and above are for headers from outside this tree. `parse` is the function [`parse`] with a check
    /// that the header is legal.
    pub const fn new<S: Shim>(code: u8, parse: fn(&[u8], &mut ShimStack) -> Result<usize, Refusal>) -> Self {
        Self { code, id: S::ID, wire_bytes: S::WIRE_BYTES, is_off_path: false, truncates_payload: false, parse }
    }

    /// Declares that a packet with this header can arrive from a direction other than its source, because a switch has
    /// sent it to a neighbour.
    #[must_use]
    pub const fn off_path(self) -> Self {
        Self { is_off_path: true, ..self }
    }

    /// Declares that a frame with this header carries only the first bytes of a packet, but follows its path.
    #[must_use]
    pub const fn truncating_payload(self) -> Self {
        Self { truncates_payload: true, ..self }
    }
}

/// The headers that the two ends of a link exchange for one mechanism.
#[derive(Debug)]
pub struct LinkHeaders {
    pub headers: &'static [LinkHeader],
    /// Whether the headers of a frame are a valid combination, with or without a packet; called if the frame has at
    /// least one.
    pub may_combine: fn(&ShimStack, has_packet: bool) -> bool,
    /// Whether the headers mark a packet that was on this link before.
    pub is_retransmission: fn(&ShimStack) -> bool,
}

impl LinkHeaders {
    /// Makes a set of headers that any packet can carry in addition to any others.
    pub const fn on_packets(headers: &'static [LinkHeader]) -> Self {
        Self { headers, may_combine: |_, has_packet| has_packet, is_retransmission: |_| false }
    }
}

/// The number of detours to other switches, allowed on any link.
static DETOURS: LinkHeaders = LinkHeaders::on_packets(&[LinkHeader::new::<DetourCount>(10, |bytes, stack| {
    parse(bytes, stack, |count: &DetourCount| count.0 > 0)
})
.off_path()]);

/// The urgency of a packet, for links on which packets have a priority.
pub static PRIORITIES: LinkHeaders = LinkHeaders::on_packets(&[LinkHeader::new::<PriorityMark>(9, |bytes, stack| {
    parse(bytes, stack, |_: &PriorityMark| true)
})]);

/// Reads a header from the front of `bytes` and pushes it on the stack; returns its length. A header is accepted if it
/// is legal and its reserved bits are zero.
pub fn parse<S: Shim>(bytes: &[u8], stack: &mut ShimStack, is_legal: impl Fn(&S) -> bool) -> Result<usize, Refusal> {
    let bytes = bytes.get(..S::BYTES).ok_or(Refusal::Truncated)?;
    if stack.contains::<S>() {
        return Err(Refusal::DuplicateKind);
    }
    let shim = S::parse(bytes);
    let mut again = [0; ShimStack::CAPACITY_BYTES];
    shim.emit(&mut again[..S::BYTES]);
    if !is_legal(&shim) || again[..S::BYTES] != *bytes {
        return Err(Refusal::Header);
    }
    stack.push(shim).map_err(|_| Refusal::Composition)?;
    Ok(S::BYTES)
}

/// All headers with a meaning on one link: those of the mechanisms that both ends run.
#[derive(Clone, Debug)]
pub struct LinkHeaderSet(Vec<&'static LinkHeaders>);

impl Default for LinkHeaderSet {
    /// The headers of every link: counts of detours.
    fn default() -> Self {
        Self(vec![&DETOURS])
    }
}

impl LinkHeaderSet {
    /// Adds headers, unless they are already in the set.
    ///
    /// # Errors
    /// If one of them has another header's number, or is already in the set under another number: a bug in the
    /// mechanism.
    pub fn add(&mut self, more: &'static LinkHeaders) -> Result<(), String> {
        if self.0.iter().any(|there| std::ptr::eq(*there, more)) {
            return Ok(());
        }
        for (place, header) in more.headers.iter().enumerate() {
            let mut others = self.all().chain(&more.headers[..place]);
            if let Some(other) = others.find(|other| other.code == header.code || other.id == header.id) {
                let [one, two] = [other, header].map(|one| format!("{:?} has number {}", one.id, one.code));
                return Err(format!(
                    "on links between switches {one} and {two}: each header needs one number of its own; those from \
                     outside of this tree have 128 to 255"
                ));
            }
        }
        self.0.push(more);
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &'static LinkHeader> {
        self.0.iter().flat_map(|of_one| of_one.headers)
    }

    fn by_code(&self, code: u8) -> Option<&'static LinkHeader> {
        self.all().find(|header| header.code == code)
    }

    fn on<'a>(&self, shims: &'a ShimStack) -> impl Iterator<Item = (&'static LinkHeader, &'a [u8])> {
        shims.iter().filter_map(|(id, bytes)| Some((self.all().find(|header| header.id == id)?, bytes)))
    }

    /// The headers on the stack, each with its number on links.
    pub(super) fn codes<'a>(&self, shims: &'a ShimStack) -> impl Iterator<Item = (u8, &'a [u8])> {
        self.on(shims).map(|(header, bytes)| (header.code, bytes))
    }

    /// Reads the header with this number from the front of `bytes` and pushes it on the stack; returns its length.
    pub(super) fn parse(&self, code: u8, bytes: &[u8], stack: &mut ShimStack) -> Result<usize, Refusal> {
        (self.by_code(code).ok_or(Refusal::UnknownKind)?.parse)(bytes, stack)
    }

    /// The number of a header on this link; `None` if it is not sent on this link.
    pub(super) fn code_of(&self, id: ShimId) -> Option<u8> {
        self.all().find(|header| header.id == id).map(|header| header.code)
    }

    /// Checks that these headers are a valid combination, with or without a packet.
    pub(super) fn check(&self, shims: &ShimStack, has_packet: bool) -> Result<(), Refusal> {
        let is_present =
            |of_one: &LinkHeaders| shims.iter().any(|(id, _)| of_one.headers.iter().any(|one| one.id == id));
        let all_may =
            self.0.iter().filter(|of_one| is_present(of_one)).all(|of_one| (of_one.may_combine)(shims, has_packet));
        if all_may && (has_packet || !shims.is_empty()) { Ok(()) } else { Err(Refusal::Composition) }
    }

    /// Returns whether a header on the stack is in `known` but not in this set.
    pub fn lacks(&self, shims: &ShimStack, known: &Self) -> bool {
        known.on(shims).any(|(header, _)| self.code_of(header.id).is_none())
    }

    /// Bytes by which these headers lengthen a packet.
    pub fn wire_bytes(&self, shims: &ShimStack) -> u32 {
        self.on(shims).map(|(header, _)| header.wire_bytes).sum()
    }

    /// Whether a packet can arrive from a direction other than its source.
    pub fn is_off_path(&self, shims: &ShimStack) -> bool {
        self.on(shims).any(|(header, _)| header.is_off_path)
    }

    /// Whether the frame carries only the first bytes of the packet.
    pub fn truncates_payload(&self, shims: &ShimStack) -> bool {
        self.on(shims).any(|(header, _)| header.truncates_payload)
    }

    /// Whether a packet was on this link before.
    pub fn is_retransmission(&self, shims: &ShimStack) -> bool {
        self.0.iter().any(|of_one| (of_one.is_retransmission)(shims))
    }
}

/// Whether a shim is only for checkers and counters of a simulation; such a shim is left out of frames and takes no
/// room.
pub(super) fn is_for_observers(id: ShimId) -> bool {
    id == CheckNumber::ID
}
