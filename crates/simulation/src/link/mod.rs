//! Links under way: delay, corruption, going down and coming up, and what they count.

use hitless_engine::{PacketHandle, Ring, Source, Stream};
use hitless_network::link::LinkState;
use hitless_network::loss::{ArrivingFrame, Corruption, LossModel};
use hitless_network::topology::Endpoint;
use hitless_wire::ordered_set::ORDERED_SET_BYTES;
use hitless_wire::{BitRate, Duration, Time};

/// What a link did to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives whole.
    Arrives,
    /// It arrives with a bad check sequence.
    Corrupted,
    /// The link was down while it was under way.
    LostDown,
}

/// What a link counted in one direction.
///
/// What is counted together is kept apart: two additions are cheaper than one of a vector of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Frames put on the link.
    pub frames_sent: u64,
    /// Frames that arrived whole.
    pub frames_arrived: u64,
    /// Frames that arrived corrupted.
    pub frames_corrupted: u64,
    /// Bytes of the frames that arrived whole.
    pub bytes_arrived: u64,
    /// Frames lost because the link was down.
    pub frames_lost_down: u64,
    /// When the last frame arrived whole.
    pub last_arrival: Time,
}

impl LinkCounters {
    /// Frames still under way.
    pub const fn in_flight(&self) -> u64 {
        debug_assert!(self.frames_sent >= self.frames_arrived + self.frames_corrupted + self.frames_lost_down);
        self.frames_sent - self.frames_arrived - self.frames_corrupted - self.frames_lost_down
    }
}

/// In place of a packet: a store never holds so many.
const NOTHING: PacketHandle = PacketHandle(u32::MAX);

/// One direction of a link.
///
/// Frames arrive in the order in which they left, so only the first one under way needs an event.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Link {
    /// Where frames arrive.
    pub to: Endpoint,
    /// The frame whose arrival is pending, or [`NOTHING`].
    first: PacketHandle,
    source: Source,
    /// From the last bit leaving the sender's MAC to the last bit in the receiver's.
    pub delay: Duration,
    /// The frames behind the first, and when they arrive.
    following: Ring<(Time, PacketHandle)>,
    /// What it counted.
    pub counters: LinkCounters,
    /// None as long as it was never to corrupt a frame and was never down.
    impairment: Option<Box<Impairment>>,
}

/// What a link may do to frames.
#[derive(Clone, Debug)]
struct Impairment {
    /// None as long as no frame was ever to be corrupted.
    corruption: Option<Corruption>,
    /// While down: since when. `Time::NEVER` while up.
    down_since: Time,
    /// When it last came up.
    up_since: Time,
}

impl Default for Impairment {
    fn default() -> Self {
        Self { corruption: None, down_since: Time::NEVER, up_since: Time::ZERO }
    }
}

impl Link {
    /// A healthy link.
    ///
    /// `source` is that of its arrivals.
    pub fn new(to: Endpoint, delay: Duration, source: Source) -> Self {
        Self {
            to,
            first: NOTHING,
            source,
            delay,
            following: Ring::default(),
            counters: LinkCounters::default(),
            impairment: None,
        }
    }

    /// Changes which frames are corrupted, on a line of `line_rate`; `stream` is what chance is drawn from if the link
    /// has none yet.
    pub fn set_loss(&mut self, model: &LossModel, line_rate: BitRate, stream: impl FnOnce() -> Stream) {
        if let Some(corruption) = self.corruption_mut() {
            corruption.set(model, line_rate);
        } else if *model != LossModel::None {
            self.impairment_mut().corruption = Some(Corruption::new(model, line_rate, stream()));
        }
    }

    fn corruption_mut(&mut self) -> Option<&mut Corruption> {
        self.impairment.as_mut()?.corruption.as_mut()
    }

    fn impairment_mut(&mut self) -> &mut Impairment {
        self.impairment.get_or_insert_default()
    }

    /// No frame is corrupted: for a link to a switch elsewhere, where the receiving end does that.
    pub fn clear_loss(&mut self) {
        if let Some(impairment) = &mut self.impairment {
            impairment.corruption = None;
        }
    }

    /// How often one, two, ... frames in a row were corrupted.
    pub fn corrupted_runs(&self) -> &[u64] {
        let corruption = self.impairment.as_ref().and_then(|impairment| impairment.corruption.as_ref());
        corruption.map_or(&[], Corruption::runs)
    }

    /// Takes the link down or up.
    pub fn set_state(&mut self, now: Time, state: LinkState) {
        let impairment = self.impairment_mut();
        debug_assert!(impairment.up_since <= now, "a link comes up in the future");
        match state {
            LinkState::Down if impairment.down_since == Time::NEVER => impairment.down_since = now,
            LinkState::Up if impairment.down_since != Time::NEVER => {
                impairment.down_since = Time::NEVER;
                impairment.up_since = now;
            }
            _ => {}
        }
    }

    /// Puts a frame on the link whose last bit leaves at `last_bit_at`; the event to schedule, unless others are
    /// before.
    #[inline(always)]
    pub fn send(&mut self, packet: PacketHandle, last_bit_at: Time) -> Option<(Time, Source)> {
        self.land(packet, last_bit_at + self.delay)
    }

    /// Puts a frame on the link that arrives at `at`, after all that are on it: for a link that is real, and has its
    /// own delay.
    #[inline(always)]
    pub fn land(&mut self, packet: PacketHandle, at: Time) -> Option<(Time, Source)> {
        self.counters.frames_sent += 1;
        if self.first != NOTHING {
            self.following.push((at, packet));
            return None;
        }
        self.first = packet;
        Some((at, self.source))
    }

    /// Takes the frame that arrives off the link; the event to schedule for the one behind it.
    ///
    /// To be called when a frame arrives, so that there is one.
    #[inline(always)]
    pub fn take(&mut self) -> (PacketHandle, Option<(Time, Source)>) {
        debug_assert!(self.first != NOTHING, "an arrival on a link with nothing under way");
        let (next, event) = match self.following.pop() {
            Some((at, next)) => (next, Some((at, self.source))),
            None => (NOTHING, None),
        };
        (std::mem::replace(&mut self.first, next), event)
    }

    /// The last `count` frames that were put on the link, as far as they are still on it.
    pub fn last_sent(&self, count: usize) -> impl Iterator<Item = PacketHandle> + '_ {
        let first = (self.first != NOTHING).then_some(self.first);
        let under_way = usize::from(first.is_some()) + self.following.len();
        let all = first.into_iter().chain(self.following.iter().map(|(_, packet)| packet));
        all.skip(under_way.saturating_sub(count))
    }

    /// [`Self::arrive`] for a frame on a link that does nothing to it. False, and nothing was done, on any other.
    #[inline(always)]
    pub fn arrive_clean(&mut self, at: Time, frame_bytes: u32) -> bool {
        let is_clean = self.impairment.is_none();
        if is_clean {
            self.count_arrival(at, frame_bytes);
        }
        is_clean
    }

    /// Whether a control ordered set that arrives at `at` comes through. To the loss model it is a frame of eight
    /// bytes: where losses do not depend on length it is as likely to be lost as a full one. It counts nowhere.
    pub fn carries_ordered_set(&mut self, at: Time) -> bool {
        let set = ArrivingFrame { at, frame_bytes: ORDERED_SET_BYTES, is_link_retransmission: false };
        self.fate(set) == Fate::Arrives
    }

    #[inline(always)]
    fn count_arrival(&mut self, at: Time, frame_bytes: u32) {
        debug_assert!(at >= self.counters.last_arrival, "frames arrive in order");
        self.counters.frames_arrived += 1;
        debug_assert!(self.counters.frames_arrived <= self.counters.frames_sent, "more frames arrive than were sent");
        self.counters.bytes_arrived += u64::from(frame_bytes);
        self.counters.last_arrival = at;
    }

    /// What becomes of a frame that arrives.
    pub fn arrive(&mut self, frame: ArrivingFrame) -> Fate {
        let fate = self.fate(frame);
        match fate {
            Fate::Arrives => self.count_arrival(frame.at, frame.frame_bytes),
            Fate::Corrupted => self.counters.frames_corrupted += 1,
            Fate::LostDown => self.counters.frames_lost_down += 1,
        }
        fate
    }

    #[inline]
    fn fate(&mut self, frame: ArrivingFrame) -> Fate {
        let Some(impairment) = &mut self.impairment else { return Fate::Arrives };
        let left_at = Time(frame.at.as_ps().saturating_sub(self.delay.as_ps()));
        let Impairment { corruption, down_since, up_since } = impairment.as_mut();
        if *down_since <= frame.at || (*up_since > left_at && *up_since > Time::ZERO) {
            return Fate::LostDown;
        }
        let is_corrupted = corruption.as_mut().is_some_and(|corruption| corruption.strikes(frame));
        if is_corrupted { Fate::Corrupted } else { Fate::Arrives }
    }
}

#[cfg(test)]
mod tests {
    use hitless_engine::{EventQueue, OrderKey};
    use hitless_wire::{HostId, PortId};

    use super::*;
    use hitless_network::topology::Node;

    fn link() -> Link {
        let to = Endpoint { node: Node::Host(HostId(0)), port: PortId(0) };
        Link::new(to, Duration::from_us(1), EventQueue::default().add_source(OrderKey::new(0, 0, 0), ()))
    }

    fn frame(at: Time) -> ArrivingFrame {
        ArrivingFrame { at, frame_bytes: 1_518, is_link_retransmission: false }
    }

    #[test]
    fn a_link_that_never_loses_a_frame_stays_clean() {
        let mut link = link();
        let stream = || unreachable!("nothing is drawn");
        link.set_loss(&LossModel::None, BitRate::from_gbps(100), stream);
        assert!(link.impairment.is_none());
    }

    #[test]
    fn a_link_is_two_cache_lines() {
        assert_eq!(size_of::<Link>(), 128);
    }

    #[test]
    fn a_frame_is_lost_when_the_link_was_down_at_any_time_under_way() {
        let us = |count| Time(Duration::from_us(count).as_ps());
        let mut link = link();
        assert_eq!(link.fate(frame(us(10))), Fate::Arrives);
        link.set_state(us(20), LinkState::Down);
        assert_eq!(link.fate(frame(us(20))), Fate::LostDown);
        link.set_state(us(30), LinkState::Up);
        let half = Time(us(30).as_ps() + 500_000);
        assert_eq!(link.fate(frame(half)), Fate::LostDown, "it left before the link came up");
        assert_eq!(link.fate(frame(us(31))), Fate::Arrives);
    }

    #[test]
    fn the_last_frames_sent_are_told_from_those_before_them() {
        let mut link = link();
        for packet in 1..=3 {
            let _ = link.send(PacketHandle(packet), Time(u64::from(packet)));
        }
        for (count, expected) in [(0, &[][..]), (1, &[3]), (2, &[2, 3]), (3, &[1, 2, 3]), (9, &[1, 2, 3])] {
            assert_eq!(link.last_sent(count).map(|packet| packet.0).collect::<Vec<_>>(), expected);
        }
        link.take();
        assert_eq!(link.last_sent(3).map(|packet| packet.0).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn only_the_first_frame_under_way_needs_an_event() {
        let mut link = link();
        let at = |us| Time(Duration::from_us(us).as_ps());
        let source = link.source;
        let [a, b, c] = [1, 2, 3].map(PacketHandle);
        assert_eq!(link.send(a, at(0)), Some((at(1), source)));
        assert_eq!((link.send(b, at(2)), link.send(c, at(3))), (None, None));
        assert_eq!(link.take(), (a, Some((at(3), source))));
        assert_eq!(link.take(), (b, Some((at(4), source))));
        assert_eq!(link.take(), (c, None));
        assert_eq!(link.send(a, at(5)), Some((at(6), source)));
    }
}
