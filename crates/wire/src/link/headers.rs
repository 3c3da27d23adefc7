//! Which headers go over a link, and what a frame may hold, whoever sent it.
//!
//! These are rules that need no state. How far a number may lie from the last one is for the mechanism to judge.

use super::refusal::Refusal;
use crate::priority_mark::PriorityMark;
use crate::shim::{CheckNumber, DetourCount, Shim, ShimId, ShimStack};

/// A header that goes on links.
#[derive(Clone, Copy, Debug)]
pub struct LinkHeader {
    code: u8,
    id: ShimId,
    wire_bytes: u32,
    is_off_path: bool,
    leaves_the_payload: bool,
    take: fn(&[u8], &mut ShimStack) -> Result<usize, Refusal>,
}

impl LinkHeader {
    /// The header `S`, whose number on links is `code`: it never changes, and one link has it once. From 128 on they
    /// are for headers from outside of this tree. `take` is [`take`] with what makes such a header legal.
    pub const fn new<S: Shim>(code: u8, take: fn(&[u8], &mut ShimStack) -> Result<usize, Refusal>) -> Self {
        Self { code, id: S::ID, wire_bytes: S::WIRE_BYTES, is_off_path: false, leaves_the_payload: false, take }
    }

    /// A packet that bears it may come from elsewhere than its source lies, since a switch has sent it to a neighbour.
    #[must_use]
    pub const fn off_path(self) -> Self {
        Self { is_off_path: true, ..self }
    }

    /// What bears it takes only the first bytes of the packet whose path it takes.
    #[must_use]
    pub const fn without_payload(self) -> Self {
        Self { leaves_the_payload: true, ..self }
    }
}

/// The headers by which the two ends of a link speak: those of one mechanism.
#[derive(Debug)]
pub struct LinkHeaders {
    /// Each of them.
    pub headers: &'static [LinkHeader],
    /// Whether those that are on a frame come together, and with a packet or without one: asked when there is any.
    pub fit: fn(&ShimStack, has_packet: bool) -> bool,
    /// Whether they say that a packet has been on this link before.
    pub is_retransmission: fn(&ShimStack) -> bool,
}

impl LinkHeaders {
    /// Headers that any packet may bear beside any others.
    pub const fn on_packets(headers: &'static [LinkHeader]) -> Self {
        Self { headers, fit: |_, has_packet| has_packet, is_retransmission: |_| false }
    }
}

/// How often switches have sent a packet elsewhere: on any link.
static DETOURS: LinkHeaders = LinkHeaders::on_packets(&[LinkHeader::new::<DetourCount>(10, |bytes, stack| {
    take(bytes, stack, |count: &DetourCount| count.0 > 0)
})
.off_path()]);

/// How urgent a packet is: where packets have a priority.
pub static PRIORITIES: LinkHeaders = LinkHeaders::on_packets(&[LinkHeader::new::<PriorityMark>(9, |bytes, stack| {
    take(bytes, stack, |_: &PriorityMark| true)
})]);

/// Reads a header from the front of `bytes`, and puts it on the stack; returns its length. It is taken when it is legal
/// and says nothing beyond what its type keeps: reserved bits are zero.
///
/// # Errors
/// Why it is not taken.
pub fn take<S: Shim>(bytes: &[u8], stack: &mut ShimStack, is_legal: impl Fn(&S) -> bool) -> Result<usize, Refusal> {
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
pub struct Spoken(Vec<&'static LinkHeaders>);

impl Default for Spoken {
    /// What any link has: counts of detours.
    fn default() -> Self {
        Self(vec![&DETOURS])
    }
}

impl Spoken {
    /// These too, unless they are there.
    ///
    /// # Errors
    /// When one of them has the number of another: a mistake of who wrote them.
    pub fn add(&mut self, more: &'static LinkHeaders) -> Result<(), String> {
        if self.0.iter().any(|there| std::ptr::eq(*there, more)) {
            return Ok(());
        }
        if let Some(taken) = more.headers.iter().find(|header| self.by_code(header.code).is_some()) {
            return Err(format!("two headers have the number {} on one link", taken.code));
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

    /// The header on the stack with their numbers on links.
    pub(super) fn codes<'a>(&self, shims: &'a ShimStack) -> impl Iterator<Item = (u8, &'a [u8])> {
        self.on(shims).map(|(header, bytes)| (header.code, bytes))
    }

    /// Reads the header with this number from the front of `bytes`, and puts it on the stack; returns its length.
    pub(super) fn take(&self, code: u8, bytes: &[u8], stack: &mut ShimStack) -> Result<usize, Refusal> {
        (self.by_code(code).ok_or(Refusal::UnknownKind)?.take)(bytes, stack)
    }

    /// The number of a header on this link; none for one that does not go there.
    pub(super) fn code_of(&self, id: ShimId) -> Option<u8> {
        self.all().find(|header| header.id == id).map(|header| header.code)
    }

    /// Whether these headers come together, and with a packet or without.
    pub(super) fn check(&self, shims: &ShimStack, has_packet: bool) -> Result<(), Refusal> {
        let is_said = |of_one: &LinkHeaders| shims.iter().any(|(id, _)| of_one.headers.iter().any(|one| one.id == id));
        let fit = self.0.iter().filter(|of_one| is_said(of_one)).all(|of_one| (of_one.fit)(shims, has_packet));
        if fit && (has_packet || !shims.is_empty()) { Ok(()) } else { Err(Refusal::Composition) }
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
    pub fn leaves_the_payload(&self, shims: &ShimStack) -> bool {
        self.on(shims).any(|(header, _)| header.leaves_the_payload)
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
