//! The packet order logic (section III-E, algorithm 3).
//!
//! Protected packets of a port get consecutive tags in the order of their arrival at egress. Tags before `next` have
//! been sent; later ones wait in the cache for their turn. A failure moves `next` back to the first packet that may
//! have been lost. Additions to the paper's algorithm:
//! - Copies can be *retired* out of order, because the ring does not keep order. Therefore a separate register, which
//!   only grows, holds the first tag that may be lost.
//! - A copy can be missing for lack of buffer. The traffic manager reports the packets it refused, and the order steps
//!   over them. If such a note is lost, the order continues at the lowest waiting tag after the stall time without
//!   progress. The control plane gives up the remaining copies if none has left for a long time.

use crate::sqr::metadata::{CacheMetadata, Skip};
use hitless_core::wire::PortId;
use hitless_switch::{Half, Pass, RegisterArray, RegisterUse, register_cell};

/// A register pair: the tag of the next original (PktTag), and the next tag to be sent (NextPktTag).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
struct Tags {
    assigned: u32,
    next: u32,
}

impl Tags {
    fn waiting(self) -> i32 {
        self.assigned.wrapping_sub(self.next) as i32
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginalTurn {
    /// Leave at once, with this tag.
    Direct(u32),
    /// Leave at once, without a tag, because no copy is allowed.
    Unprotected,
    /// Wait behind others, or for a path, with this tag.
    KeptBack(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachedTurn {
    Sent,
    Due,
    Waiting { next: u32 },
}

impl CachedTurn {
    /// The tag at which the order continues after a copy with `tag`; `None` if that copy was sent.
    pub fn next(self, tag: u32) -> Option<u32> {
        match self {
            Self::Sent => None,
            Self::Due => Some(tag.wrapping_add(1)),
            Self::Waiting { next } => Some(next),
        }
    }
}

/// Places for missing tags of a port; the low bits of a tag select the place.
const MISSING_PLACES: usize = 1_024;

/// The awaited tag, and the start of the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
struct Stall {
    next: u32,
    since_ns: u32,
}

register_cell!(Tags { assigned: u32, next: u32 });
register_cell!(Stall { next: u32, since_ns: u32 });

#[derive(Debug, hitless_core::state::State)]
pub struct PacketOrder {
    #[part]
    tags: RegisterArray<Tags>,
    #[part]
    stalls: RegisterArray<Stall>,
    #[part]
    lowest_waiting: RegisterArray<u32>,
    #[part]
    retired: RegisterArray<u32>,
    #[part]
    missing: RegisterArray<u32>,
    #[part]
    kept_from: RegisterArray<u32>,
    stall_timeout_ns: u32,
}

impl PacketOrder {
    /// The order of `ports` ports, with `first_tag` as their first tag. It skips a packet that stays away for
    /// `stall_timeout_ns`.
    pub fn new(ports: usize, stall_timeout_ns: u32, first_tag: u32) -> Self {
        let stall = Stall { next: first_tag.wrapping_sub(1), since_ns: 0 };
        Self {
            tags: RegisterArray::new("PktTag", Half::Egress, 2, ports, Tags { assigned: first_tag, next: first_tag }),
            stalls: RegisterArray::new("stall", Half::Egress, 3, ports, stall),
            lowest_waiting: RegisterArray::new("lowestWaiting", Half::Egress, 4, ports, 0),
            retired: RegisterArray::new("retired", Half::Egress, 3, ports, first_tag),
            missing: nothing_missing(ports),
            kept_from: RegisterArray::new("keptFrom", Half::Egress, 3, ports, first_tag),
            stall_timeout_ns,
        }
    }

    pub fn stated(&self) -> impl Iterator<Item = RegisterUse> {
        let words = [&self.lowest_waiting, &self.retired, &self.kept_from, &self.missing].map(RegisterArray::stated);
        [self.tags.stated(), self.stalls.stated()].into_iter().chain(words)
    }

    pub fn original(&mut self, pass: &mut Pass, port: PortId, has_way: bool, may_copy: bool) -> OriginalTurn {
        // A single access reads and advances both tags, as a register of a pipeline allows (section III-F).
        self.tags.access(pass, usize::from(port.0), |tags| {
            assert!(tags.waiting() >= 0, "the next tag to be sent is not beyond the last one given");
            // Behind waiting packets an original must wait too, even with a path: leaving at once would reorder it.
            let is_direct = has_way && tags.next == tags.assigned;
            if is_direct && !may_copy {
                return OriginalTurn::Unprotected;
            }
            let tag = tags.assigned;
            // A direct packet advances both tags: line 4 of algorithm 3 without the wait for its copy to retire.
            tags.assigned = tag.wrapping_add(1);
            if !is_direct {
                return OriginalTurn::KeptBack(tag);
            }
            tags.next = tags.assigned;
            OriginalTurn::Direct(tag)
        })
    }

    /// Decides on a cached packet in egress. Returns the decision and the number of tags that the packet's skip stepped
    /// over. The packet may only leave in its turn and with `may_leave`.
    pub fn cached(&mut self, pass: &mut Pass, cached: &CacheMetadata, may_leave: bool) -> (CachedTurn, u32) {
        self.tags.access(pass, usize::from(cached.primary.0), |tags| {
            // A skip is decided in one pass and applied in the next, because a pass accesses the tags once. It is void
            // if another packet has moved `next` since.
            let skip = cached.skip.filter(|skip| skip.from == tags.next);
            if let Some(skip) = skip {
                tags.next = skip.to;
            }
            // Tags wrap, so that their order is the sign of their difference. Lines 6 to 10 of algorithm 3.
            let turn = match cached.tag.wrapping_sub(tags.next) as i32 {
                ..0 => CachedTurn::Sent,
                0 if may_leave => {
                    tags.next = tags.next.wrapping_add(1);
                    CachedTurn::Due
                }
                _ => CachedTurn::Waiting { next: tags.next },
            };
            (turn, skip.map_or(0, |skip| skip.to.wrapping_sub(skip.from)))
        })
    }

    /// Notes that a packet waits for the tag `next`. Returns the skip to make if that packet is missing or overdue.
    /// `now_ns` has 32 bits, regardless of the clock of the timestamps.
    pub fn wait(&mut self, pass: &mut Pass, cached: &CacheMetadata, next: u32, now_ns: u32) -> Option<Skip> {
        let port = usize::from(cached.primary.0);
        let (is_first, is_overdue) = self.stalls.access(pass, port, |stall| {
            let is_first = stall.next != next;
            if is_first {
                *stall = Stall { next, since_ns: now_ns };
            }
            (is_first, now_ns.wrapping_sub(stall.since_ns) >= self.stall_timeout_ns)
        });
        // If everything before it is lost, the order can continue at the lowest waiting tag.
        let lowest = self.lowest_waiting.access(pass, port, |lowest| {
            if is_first || (cached.tag.wrapping_sub(*lowest) as i32) < 0 {
                *lowest = cached.tag;
            }
            *lowest
        });
        // A note allows the step over its tag at once, without the stall time.
        let is_missing = self.missing.access(pass, missing_place(port, next), |tag| *tag == next);
        if is_missing {
            return Some(Skip { from: next, to: next.wrapping_add(1) });
        }
        (is_overdue && lowest != next).then_some(Skip { from: next, to: lowest })
    }

    /// Takes back the tag of a packet that the traffic manager refused. If it is the last tag, it is free for the next
    /// packet.
    pub fn withdraw(&mut self, pass: &mut Pass, cached: &CacheMetadata) {
        let after = cached.tag.wrapping_add(1);
        let is_withdrawn = self.tags.access(pass, usize::from(cached.primary.0), |tags| {
            let is_last = tags.assigned == after;
            if is_last {
                tags.assigned = cached.tag;
                tags.next = if tags.next == after { cached.tag } else { tags.next };
            }
            is_last
        });
        if is_withdrawn {
            let port = usize::from(cached.primary.0);
            self.kept_from.access(pass, port, |kept| *kept = if *kept == after { cached.tag } else { *kept });
        } else {
            self.note_missing(pass, cached);
        }
    }

    pub fn note_missing(&mut self, pass: &mut Pass, cached: &CacheMetadata) {
        let place = missing_place(usize::from(cached.primary.0), cached.tag);
        self.missing.access(pass, place, |tag| *tag = cached.tag);
    }

    /// Retires the copy and all before it: they have been sent.
    pub fn retire(&mut self, pass: &mut Pass, cached: &CacheMetadata) {
        let after = cached.tag.wrapping_add(1);
        self.retired.access(pass, usize::from(cached.primary.0), |retired| {
            if (after.wrapping_sub(*retired) as i32) > 0 {
                *retired = after;
            }
        });
        // A stale note in this place must not survive a whole turn of the tags.
        let place = missing_place(usize::from(cached.primary.0), cached.tag);
        self.missing.access(pass, place, |noted| {
            if (noted.wrapping_sub(cached.tag) as i32) <= 0 {
                *noted = after;
            }
        });
    }

    /// Reads whether all packets sent before the failure are before `next`, so that only kept-back packets follow.
    pub fn check_copies_passed(&mut self, pass: &mut Pass, port: PortId, next: u32) -> bool {
        self.kept_from.access(pass, usize::from(port.0), |kept_from| kept_from.wrapping_sub(next) as i32 <= 0)
    }

    /// For the control plane: makes the packets that may have been lost the next to be sent.
    pub fn rewind(&mut self, port: PortId) {
        let index = usize::from(port.0);
        let (tags, kept_from) = (self.tags.peek(index), self.kept_from.peek(index));
        let retired = self.retired.peek(index);
        assert!(tags.assigned.wrapping_sub(retired) as i32 >= 0, "no tag is retired before it is given");
        // Copies of an earlier failure may still wait beyond `next`, and then `kept_from` stays. Otherwise it is stale:
        // as old as that failure, or older than a whole turn of the tags.
        let has_copies = kept_from.wrapping_sub(tags.next) <= tags.assigned.wrapping_sub(tags.next);
        if !has_copies {
            self.kept_from.poke(index, tags.next);
        }
        self.tags.poke(index, Tags { next: retired, ..tags });
    }

    /// For the control plane: whether copies must be sent before the packets that were kept back.
    pub fn has_copies_to_send(&self, port: PortId) -> bool {
        let index = usize::from(port.0);
        (self.kept_from.peek(index).wrapping_sub(self.tags.peek(index).next) as i32) > 0
    }

    /// For the control plane: the next tag to be sent.
    pub fn next(&self, port: PortId) -> u32 {
        self.tags.peek(usize::from(port.0)).next
    }

    /// For the control plane: steps over the next tags that are noted as missing. Returns their number.
    pub fn step_over_missing(&mut self, port: PortId) -> u32 {
        let index = usize::from(port.0);
        let Tags { assigned, next } = self.tags.peek(index);
        let is_missing = |tag: &u32| self.missing.peek(missing_place(index, *tag)) == *tag;
        let waiting = (0..assigned.wrapping_sub(next)).map(|ahead| next.wrapping_add(ahead));
        let missing = waiting.take_while(is_missing).count() as u32;
        self.tags.poke(index, Tags { assigned, next: next.wrapping_add(missing) });
        missing
    }

    /// For the control plane: stops waiting for unsent copies. Returns the maximum number of packets given up.
    pub fn give_up(&mut self, port: PortId) -> u32 {
        let tags = self.tags.peek(usize::from(port.0));
        self.tags.poke(usize::from(port.0), Tags { next: tags.assigned, ..tags });
        tags.assigned.wrapping_sub(tags.next)
    }

    /// For the control plane: restarts the stall timer.
    pub fn restart_wait(&mut self, port: PortId) {
        let index = usize::from(port.0);
        // No packet waits for a tag that was sent: the next wait starts the timer.
        let next = self.tags.peek(index).next.wrapping_sub(1);
        self.stalls.poke(index, Stall { next, since_ns: 0 });
    }
}

fn missing_place(port: usize, tag: u32) -> usize {
    port * MISSING_PLACES + tag as usize % MISSING_PLACES
}

/// Fills each place with a tag that belongs to another place, so that no tag is missing.
fn nothing_missing(ports: usize) -> RegisterArray<u32> {
    let mut missing = RegisterArray::new("missing", Half::Egress, 4, ports * MISSING_PLACES, 1);
    (0..ports).for_each(|port| missing.poke(missing_place(port, 1), 0));
    missing
}

#[cfg(test)]
impl PacketOrder {
    /// Tells the state of a port that decides about its packets, if none waits for the stall time: the stalled tag and
    /// the start of the wait do not matter then.
    pub fn tell(&self, port: usize, digest: &mut hitless_switch::explore::Digest<'_>) {
        let tags = self.tags.peek(port);
        digest.value((tags, self.stalls.peek(port).next, self.retired.peek(port), self.kept_from.peek(port)));
        let recent = (0..32).map(|back| tags.assigned.wrapping_sub(back));
        recent.for_each(|tag| digest.value(self.missing.peek(missing_place(port, tag)) == tag));
    }

    /// The time after which the order skips a packet that may be missing.
    pub fn stall_timeout_ns(&self) -> u32 {
        self.stall_timeout_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: PortId = PortId(0);

    fn metadata(tag: u32) -> CacheMetadata {
        CacheMetadata { tag, started_ns: 0, primary: PORT, is_kept_back: false, skip: None }
    }

    fn pass() -> Pass {
        let mut pass = Pass::new(true);
        pass.begin(Half::Egress);
        pass
    }

    fn turn(order: &mut PacketOrder, tag: u32, may_leave: bool) -> CachedTurn {
        order.cached(&mut pass(), &metadata(tag), may_leave).0
    }

    /// An order after `count` sent packets, the first with tag `first`.
    fn sent(first: u32, count: u32) -> PacketOrder {
        let mut order = PacketOrder::new(1, 1_000, first);
        for sent in 0..count {
            let turn = order.original(&mut pass(), PORT, true, true);
            assert_eq!(turn, OriginalTurn::Direct(first.wrapping_add(sent)));
        }
        order
    }

    #[test]
    fn after_a_failure_the_order_begins_with_the_first_that_was_not_retired() {
        for first in [0, u32::MAX - 1] {
            let tag = |offset: u32| first.wrapping_add(offset);
            let mut order = sent(first, 4);
            order.retire(&mut pass(), &metadata(tag(1)));
            order.retire(&mut pass(), &metadata(first));
            assert_eq!(turn(&mut order, tag(3), true), CachedTurn::Sent);
            order.rewind(PORT);
            assert_eq!(turn(&mut order, tag(1), true), CachedTurn::Sent, "it was retired");
            assert_eq!(turn(&mut order, tag(3), true), CachedTurn::Waiting { next: tag(2) });
            assert_eq!(turn(&mut order, tag(2), false), CachedTurn::Waiting { next: tag(2) });
            assert_eq!(order.original(&mut pass(), PORT, true, true), OriginalTurn::KeptBack(tag(4)));
            for due in 2..5 {
                assert_eq!(turn(&mut order, tag(due), true), CachedTurn::Due);
            }
            assert_eq!(order.original(&mut pass(), PORT, true, true), OriginalTurn::Direct(tag(5)));
        }
    }

    #[test]
    fn packets_kept_back_come_after_the_last_copy_however_often_the_link_fails() {
        let mut order = sent(0, 4);
        order.retire(&mut pass(), &metadata(0));
        assert!(!order.has_copies_to_send(PORT));
        order.rewind(PORT);
        assert!(order.has_copies_to_send(PORT));
        assert_eq!(order.original(&mut pass(), PORT, false, true), OriginalTurn::KeptBack(4));
        assert_eq!(turn(&mut order, 1, true), CachedTurn::Due);
        assert!(!order.check_copies_passed(&mut pass(), PORT, 2));
        order.rewind(PORT);
        for (due, is_last) in [(1, false), (2, false), (3, true)] {
            assert!(order.has_copies_to_send(PORT));
            assert_eq!(turn(&mut order, due, true), CachedTurn::Due);
            assert_eq!(order.check_copies_passed(&mut pass(), PORT, due + 1), is_last, "{due}");
        }
        assert!(!order.has_copies_to_send(PORT));
    }

    #[test]
    fn what_was_kept_back_before_the_tags_wrapped_is_forgotten() {
        let mut order = sent(5, 2);
        order.rewind(PORT);
        for place in [2_u32.pow(31) + 16, u32::MAX, 6] {
            order.retired.poke(0, place);
            order.tags.poke(0, Tags { assigned: place.wrapping_add(1), next: place.wrapping_add(1) });
            order.rewind(PORT);
            assert!(order.has_copies_to_send(PORT));
            assert_eq!(turn(&mut order, place, true), CachedTurn::Due);
            assert!(order.check_copies_passed(&mut pass(), PORT, place.wrapping_add(1)), "{place}");
            assert!(!order.has_copies_to_send(PORT));
        }
    }

    #[test]
    fn a_note_of_a_missing_packet_ends_with_its_time() {
        let mut order = sent(0, 3);
        order.note_missing(&mut pass(), &metadata(1));
        for tag in [2, 1_024, 1_025] {
            assert!(order.wait(&mut pass(), &metadata(2), 1, 0).is_some(), "{tag} has not been retired");
            order.retire(&mut pass(), &metadata(tag));
        }
        assert_eq!(order.wait(&mut pass(), &metadata(2), 1, 0), None);
        order.note_missing(&mut pass(), &metadata(4_000));
        order.retire(&mut pass(), &metadata(4_000 - 1_024));
        assert!(order.wait(&mut pass(), &metadata(4_001), 4_000, 0).is_some(), "it is still to come");
    }

    #[test]
    fn without_copies_a_packet_takes_no_tag_unless_it_must_wait() {
        let mut order = sent(0, 1);
        assert_eq!(order.original(&mut pass(), PORT, true, false), OriginalTurn::Unprotected);
        assert_eq!(order.original(&mut pass(), PORT, false, false), OriginalTurn::KeptBack(1));
        assert_eq!(order.original(&mut pass(), PORT, true, false), OriginalTurn::KeptBack(2));
    }

    #[test]
    fn a_packet_that_nobody_has_is_given_up_after_the_stall_time() {
        let mut order = sent(0, 6);
        order.rewind(PORT);
        order.restart_wait(PORT);
        for (now_ns, tag) in [(5_000, 4), (5_500, 2), (5_999, 4)] {
            assert_eq!(order.wait(&mut pass(), &metadata(tag), 0, now_ns), None);
        }
        let skip = order.wait(&mut pass(), &metadata(4), 0, 6_000);
        assert_eq!(skip, Some(Skip { from: 0, to: 2 }));
        let skipping = CacheMetadata { skip, ..metadata(4) };
        assert_eq!(order.cached(&mut pass(), &skipping, true), (CachedTurn::Waiting { next: 2 }, 2));
        assert_eq!(turn(&mut order, 2, true), CachedTurn::Due);
        assert_eq!(order.wait(&mut pass(), &metadata(4), 3, 6_500), None, "waiting for 3 has just begun");
    }

    #[test]
    fn the_tag_of_the_last_packet_is_given_again_when_it_was_refused() {
        let mut order = sent(7, 2);
        order.withdraw(&mut pass(), &metadata(8));
        assert_eq!(order.original(&mut pass(), PORT, false, true), OriginalTurn::KeptBack(8));
        assert_eq!(order.original(&mut pass(), PORT, false, true), OriginalTurn::KeptBack(9));
        order.withdraw(&mut pass(), &metadata(9));
        order.withdraw(&mut pass(), &metadata(7));
        assert_eq!(turn(&mut order, 8, true), CachedTurn::Due);
        assert_eq!(order.original(&mut pass(), PORT, true, true), OriginalTurn::Direct(9));
    }

    #[test]
    fn a_packet_that_was_refused_is_stepped_over_at_once() {
        for tag in [0, 1, 1_023, 1_024, u32::MAX] {
            let mut order = sent(tag, 2);
            order.note_missing(&mut pass(), &metadata(tag));
            order.rewind(PORT);
            let behind = metadata(tag.wrapping_add(1));
            let skip = order.wait(&mut pass(), &behind, tag, 0);
            assert_eq!(skip, Some(Skip { from: tag, to: behind.tag }));
            assert_eq!(order.cached(&mut pass(), &CacheMetadata { skip, ..behind }, true), (CachedTurn::Due, 1));
        }
    }
}
