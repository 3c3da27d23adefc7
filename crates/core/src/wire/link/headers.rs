//! Which headers go over a link, and what a frame may hold, whoever sent it.
//!
//! These are rules that need no state. How far a number may lie from the last one is for the mechanism to judge.

use super::refusal::Refusal;
use crate::wire::priority_mark::PriorityMark;
use crate::wire::shim::{CheckNumber, DetourCount, Shim, ShimId, ShimStack};

/// A header that goes on links.
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
    /// The header `S`, whose number on links is `code`: it never changes, and a fabric has it once. From 128 on they
    /// are for headers from outside of this tree. `parse` is [`parse`] with what makes such a header legal.
    pub const fn new<S: Shim>(code: u8, parse: fn(&[u8], &mut ShimStack) -> Result<usize, Refusal>) -> Self {
        Self { code, id: S::ID, wire_bytes: S::WIRE_BYTES, is_off_path: false, truncates_payload: false, parse }
    }

    /// A packet that bears it may come from elsewhere than its source lies, since a switch has sent it to a neighbour.
    #[must_use]
    pub const fn off_path(self) -> Self {
        Self { is_off_path: true, ..self }
    }

    /// What bears it takes only the first bytes of the packet whose path it takes.
    #[must_use]
    pub const fn truncating_payload(self) -> Self {
        Self { truncates_payload: true, ..self }
    }
}

/// The headers by which the two ends of a link speak: those of one mechanism.
#[derive(Debug)]
pub struct LinkHeaders {
    /// Each of them.
    pub headers: &'static [LinkHeader],
    /// Whether those that are on a frame come together, and with a packet or without one: asked when there is any.
    pub may_combine: fn(&ShimStack, has_packet: bool) -> bool,
    /// Whether they say that a packet has been on this link before.
    pub is_retransmission: fn(&ShimStack) -> bool,
}

impl LinkHeaders {
    /// Headers that any packet may bear beside any others.
    pub const fn on_packets(headers: &'static [LinkHeader]) -> Self {
        Self { headers, may_combine: |_, has_packet| has_packet, is_retransmission: |_| false }
    }
}

/// How often switches have sent a packet elsewhere: on any link.
static DETOURS: LinkHeaders = LinkHeaders::on_packets(&[LinkHeader::new::<DetourCount>(10, |bytes, stack| {
    parse(bytes, stack, |count: &DetourCount| count.0 > 0)
})
.off_path()]);

/// How urgent a packet is: where packets have a priority.
pub static PRIORITIES: LinkHeaders = LinkHeaders::on_packets(&[LinkHeader::new::<PriorityMark>(9, |bytes, stack| {
    parse(bytes, stack, |_: &PriorityMark| true)
})]);

/// Reads a header from the front of `bytes`, and puts it on the stack; returns its length. It is taken when it is legal
/// and says nothing beyond what its type keeps: reserved bits are zero.
///
/// # Errors
/// Why it is not taken.
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

/// All headers that mean something on one link: those of what both its ends run.
#[derive(Clone, Debug)]
pub struct LinkHeaderSet(Vec<&'static LinkHeaders>);

impl Default for LinkHeaderSet {
    /// What any link has: counts of detours.
    fn default() -> Self {
        Self(vec![&DETOURS])
    }
}

impl LinkHeaderSet {
    /// These too, unless they are there.
    ///
    /// # Errors
    /// When one of them has the number of another, or is there with another number: a mistake of who wrote them.
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

    /// The headers on the stack, each by its number on links.
    pub(super) fn codes<'a>(&self, shims: &'a ShimStack) -> impl Iterator<Item = (u8, &'a [u8])> {
        self.on(shims).map(|(header, bytes)| (header.code, bytes))
    }

    /// Reads the header with this number from the front of `bytes`, and puts it on the stack; returns its length.
    pub(super) fn parse(&self, code: u8, bytes: &[u8], stack: &mut ShimStack) -> Result<usize, Refusal> {
        (self.by_code(code).ok_or(Refusal::UnknownKind)?.parse)(bytes, stack)
    }

    /// The number of a header on this link; none for one that does not go there.
    pub(super) fn code_of(&self, id: ShimId) -> Option<u8> {
        self.all().find(|header| header.id == id).map(|header| header.code)
    }

    /// Whether these headers come together, and with a packet or without.
    pub(super) fn check(&self, shims: &ShimStack, has_packet: bool) -> Result<(), Refusal> {
        let is_present =
            |of_one: &LinkHeaders| shims.iter().any(|(id, _)| of_one.headers.iter().any(|one| one.id == id));
        let all_may =
            self.0.iter().filter(|of_one| is_present(of_one)).all(|of_one| (of_one.may_combine)(shims, has_packet));
        if all_may && (has_packet || !shims.is_empty()) { Ok(()) } else { Err(Refusal::Composition) }
    }

    /// Whether a header is on the stack that is among the `known`, and not among these.
    pub fn lacks(&self, shims: &ShimStack, known: &Self) -> bool {
        known.on(shims).any(|(header, _)| self.code_of(header.id).is_none())
    }

    /// Bytes by which a packet grows with these headers.
    pub fn wire_bytes(&self, shims: &ShimStack) -> u32 {
        self.on(shims).map(|(header, _)| header.wire_bytes).sum()
    }

    /// Whether a packet comes from elsewhere than its source lies.
    pub fn is_off_path(&self, shims: &ShimStack) -> bool {
        self.on(shims).any(|(header, _)| header.is_off_path)
    }

    /// Whether only the first bytes of a packet go along.
    pub fn truncates_payload(&self, shims: &ShimStack) -> bool {
        self.on(shims).any(|(header, _)| header.truncates_payload)
    }

    /// Whether a packet has been on this link before.
    pub fn is_retransmission(&self, shims: &ShimStack) -> bool {
        self.0.iter().any(|of_one| (of_one.is_retransmission)(shims))
    }
}

/// Whether it is for checkers and counters of a simulation, and left out of a frame: no room is counted for it.
pub(super) fn is_for_observers(id: ShimId) -> bool {
    id == CheckNumber::ID
}
