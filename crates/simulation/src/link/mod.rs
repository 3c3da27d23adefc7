//! Frames in flight on links: delay, corruption, failures, and counters.
//!
//! [`Link`] is the part that every frame touches and fits one cache line; `impairment` adds loss and failures to the
//! few links that have any; [`Links`] joins both.

mod impairment;

use std::collections::BTreeMap;
use std::ops::Index;

use hitless_core::engine::{PacketHandle, Ring, Stream};
use hitless_core::state::{Damaged, Reader, State, Writer};
use hitless_core::wire::mac_control::ORDERED_SET_BYTES;
use hitless_core::wire::{BitRate, Duration, HostId, PortId, Time};
use hitless_scenario::network::link::LinkState;
use hitless_scenario::network::loss::{ArrivingFrame, LossModel};
use hitless_scenario::network::topology::{Endpoint, Node, SwitchId};

pub use impairment::Fate;
use impairment::Impairment;

/// Counters of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    pub frames_sent: u64,
    /// Frames that arrived intact.
    pub frames_arrived: u64,
    /// Frames that arrived corrupted.
    pub frames_corrupted: u64,
    /// Bytes of the frames that arrived intact.
    pub bytes_arrived: u64,
    /// Frames lost because the link was down.
    pub frames_lost_down: u64,
    /// Time of the last intact arrival.
    pub last_arrival: Time,
}

impl LinkCounters {
    /// Number of frames in flight.
    pub const fn in_flight(&self) -> u64 {
        assert!(self.frames_sent >= self.frames_arrived + self.frames_corrupted + self.frames_lost_down);
        self.frames_sent - self.frames_arrived - self.frames_corrupted - self.frames_lost_down
    }
}

/// Stands for "no packet": a packet store never grows to this number.
const NOTHING: PacketHandle = PacketHandle(u32::MAX);

/// In place of the first frame of a link that ends in another partition: frames gather in `following` until they are
/// handed over.
const ELSEWHERE: PacketHandle = PacketHandle(u32::MAX - 1);

/// A frame in flight after the first, with its time of arrival. It takes 12 bytes, so five share a cache line.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct UnderWay([u32; 3]);

impl UnderWay {
    #[inline(always)]
    const fn new(at: Time, packet: PacketHandle) -> Self {
        Self([at.0 as u32, (at.0 >> 32) as u32, packet.0])
    }

    #[inline(always)]
    fn parts(self) -> (Time, PacketHandle) {
        (Time(u64::from(self.0[0]) | u64::from(self.0[1]) << 32), PacketHandle(self.0[2]))
    }
}

/// One direction of a link, in one cache line.
///
/// Frames arrive in the order of their departure, so only the first frame in flight needs an event.
#[derive(Clone, Debug, hitless_core::state::State)]
#[repr(C, align(64))]
pub struct Link {
    /// The number of the receiving node above the flag bits [`IS_SWITCH`] and [`IS_IMPAIRED`].
    node: u32,
    /// The frame with a pending arrival event, or [`NOTHING`].
    first: PacketHandle,
    /// The delay in ps above 16 bits for the receiving port.
    #[configured]
    delay_and_port: u64,
    /// The frames in flight after the first.
    following: Ring<UnderWay>,
    frames_sent: u64,
    bytes_arrived: u64,
    last_arrival: Time,
}

const IS_SWITCH: u32 = 1;
const IS_IMPAIRED: u32 = 2;
const FLAG_BITS: u32 = 2;
const PORT_BITS: u32 = 16;

impl Link {
    /// Creates a healthy link.
    ///
    /// # Panics
    /// If the delay is 2^48 ps or more, which is above [`hitless_scenario::network::topology::DELAY_MAX`].
    pub fn new(to: Endpoint, delay: Duration) -> Self {
        assert!(delay.as_ps() < 1 << (u64::BITS - PORT_BITS), "a link's delay of {} ps", delay.as_ps());
        let (number, kind) = match to.node {
            Node::Host(host) => (host.0, 0),
            Node::Switch(switch) => (switch.0, IS_SWITCH),
        };
        Self {
            node: number << FLAG_BITS | kind,
            first: NOTHING,
            delay_and_port: delay.as_ps() << PORT_BITS | u64::from(to.port.0),
            following: Ring::default(),
            frames_sent: 0,
            bytes_arrived: 0,
            last_arrival: Time::ZERO,
        }
    }

    /// The receiving end.
    #[inline(always)]
    pub const fn to(&self) -> Endpoint {
        let number = self.node >> FLAG_BITS;
        let node = if self.node & IS_SWITCH != 0 { Node::Switch(SwitchId(number)) } else { Node::Host(HostId(number)) };
        Endpoint { node, port: PortId(self.delay_and_port as u16) }
    }

    /// Time from the last bit's departure at the sender's MAC to its arrival in the receiver's.
    #[inline(always)]
    pub const fn delay(&self) -> Duration {
        Duration(self.delay_and_port >> PORT_BITS)
    }

    /// Changes the delay of later frames; returns the old delay. Frames in flight keep it, and the sender must not
    /// overtake them.
    pub fn set_delay(&mut self, delay: Duration) -> Duration {
        let before = self.delay();
        self.delay_and_port = delay.as_ps() << PORT_BITS | self.delay_and_port & ((1 << PORT_BITS) - 1);
        before
    }

    /// Number of frames sent.
    pub const fn frames_sent(&self) -> u64 {
        self.frames_sent
    }

    /// Bytes of the frames that arrived intact.
    pub const fn bytes_arrived(&self) -> u64 {
        self.bytes_arrived
    }

    /// Number of frames on the link, including those in the sender's queue, because their departure time is fixed
    /// already.
    fn in_flight(&self) -> u64 {
        u64::from(self.first != NOTHING) + self.following.len() as u64
    }

    /// Puts a frame on the link whose last bit departs at `last_bit_at`. Returns the time for its arrival event if no
    /// other frame is on the link.
    #[inline(always)]
    pub fn send(&mut self, packet: PacketHandle, last_bit_at: Time) -> Option<Time> {
        self.land(packet, last_bit_at + self.delay())
    }

    /// Puts a frame on the link that arrives at `at`, after all frames in flight; for real links, which have their own
    /// delay.
    #[inline(always)]
    pub fn land(&mut self, packet: PacketHandle, at: Time) -> Option<Time> {
        self.frames_sent += 1;
        if self.first != NOTHING {
            self.following.push(UnderWay::new(at, packet));
            return None;
        }
        self.first = packet;
        Some(at)
    }

    /// Takes the arriving frame off the link. Returns the time for the arrival event of the next frame.
    ///
    /// Call it only on an arrival, when a frame is present, and count the frame's fate at once.
    #[inline(always)]
    pub fn take(&mut self) -> (PacketHandle, Option<Time>) {
        debug_assert!(self.first != NOTHING, "an arrival on a link with nothing under way");
        let (next, at) = match self.following.pop().map(UnderWay::parts) {
            Some((at, next)) => (next, Some(at)),
            None => (NOTHING, None),
        };
        (std::mem::replace(&mut self.first, next), at)
    }

    /// The frame that arrives next.
    #[inline(always)]
    pub fn first(&self) -> Option<PacketHandle> {
        (self.first != NOTHING).then_some(self.first)
    }

    /// Marks the link as ending in another partition: it only gathers frames now.
    pub fn cut(&mut self) {
        assert!(self.first == NOTHING, "a link is cut with frames on it");
        self.first = ELSEWHERE;
    }

    /// Whether the link ends in another partition.
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.first == ELSEWHERE
    }

    /// Whether frames wait to be handed over.
    #[inline]
    pub fn has_gathered(&self) -> bool {
        !self.following.is_empty()
    }

    /// Takes the next frame to hand over, with its time of arrival.
    pub fn take_gathered(&mut self) -> Option<(Time, PacketHandle)> {
        assert!(self.is_cut(), "frames are handed over that arrive here");
        self.following.pop().map(UnderWay::parts)
    }

    /// Prefetches the data for [`Self::take`]; the result only keeps the load alive.
    #[inline(always)]
    pub fn read_following(&self) -> u64 {
        self.following.at_front().map_or(0, |entry| u64::from(entry.0[0]))
    }

    /// Prefetches the data for [`Self::send`]; the result only keeps the load alive.
    #[inline(always)]
    pub fn read_ahead(&self) -> u64 {
        self.following.behind().map_or(0, |entry| u64::from(entry.0[0]))
    }

    /// The last `count` frames sent, without those that have left the link.
    pub fn last_sent(&self, count: usize) -> impl Iterator<Item = PacketHandle> + '_ {
        let first = (self.first != NOTHING).then_some(self.first);
        let under_way = usize::from(first.is_some()) + self.following.len();
        let all = first.into_iter().chain(self.following.iter().map(|entry| entry.parts().1));
        all.skip(under_way.saturating_sub(count))
    }

    /// Whether the link has ever had a loss model or a failure; if so, [`Links::arrive`] decides the fate of its
    /// frames.
    #[inline(always)]
    pub const fn is_impaired(&self) -> bool {
        self.node & IS_IMPAIRED != 0
    }

    /// Counts an intact arrival on a link without impairment.
    #[inline(always)]
    pub fn count_arrival(&mut self, at: Time, frame_bytes: u32) {
        debug_assert!(at >= self.last_arrival, "frames arrive in order");
        self.bytes_arrived += u64::from(frame_bytes);
        self.last_arrival = at;
    }
}

/// All links, one entry for each direction, by [`hitless_scenario::network::topology::DirectedLink::index`].
#[derive(Clone)]
pub struct Links {
    all: Vec<Link>,
    /// Only for links that have ever had a loss model or a failure.
    impairments: BTreeMap<usize, Impairment>,
}

/// Impairments are saved with their links, because a link that was healthy at the start may have failed since.
impl State for Links {
    fn save(&self, out: &mut Writer) {
        let Self { all, impairments } = self;
        all.save(out);
        out.value(&impairments.len());
        for (link, impairment) in impairments {
            out.value(link);
            impairment.save(out);
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        self.all.load(from)?;
        for _ in 0..from.count()? {
            let link: usize = from.value()?;
            if link >= self.all.len() {
                return Err(from.damaged("a link of the network"));
            }
            self.impairments.entry(link).or_default().load(from)?;
        }
        Ok(())
    }
}

impl Index<usize> for Links {
    type Output = Link;
    #[inline(always)]
    fn index(&self, link: usize) -> &Link {
        &self.all[link]
    }
}

impl AsMut<[Link]> for Links {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [Link] {
        &mut self.all
    }
}

impl Links {
    /// Creates healthy links.
    pub fn new(all: Vec<Link>) -> Self {
        Self { all, impairments: BTreeMap::new() }
    }

    /// Mutable access to a link.
    #[inline(always)]
    pub fn at(&mut self, link: u32) -> &mut Link {
        &mut self.all[link as usize]
    }

    /// Prefetches a link, if the number is valid; the result only keeps the load alive.
    #[inline(always)]
    pub fn read_ahead(&self, link: u32) -> u64 {
        self.all.get(link as usize).map_or(0, Link::frames_sent)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Link> {
        self.all.iter()
    }

    pub fn counters(&self, link: usize) -> LinkCounters {
        let state = &self.all[link];
        let lost = self.impairments.get(&link).map(|impairment| (impairment.corrupted, impairment.lost_down));
        let (frames_corrupted, frames_lost_down) = lost.unwrap_or_default();
        LinkCounters {
            frames_sent: state.frames_sent,
            frames_arrived: state.frames_sent - state.in_flight() - frames_corrupted - frames_lost_down,
            frames_corrupted,
            bytes_arrived: state.bytes_arrived,
            frames_lost_down,
            last_arrival: state.last_arrival,
        }
    }

    /// Sets the loss model of a link with line rate `rate`; `stream` provides the random numbers if the link lacks a
    /// stream.
    pub fn set_loss(&mut self, link: usize, model: &LossModel, rate: BitRate, stream: impl FnOnce() -> Stream) {
        let known = self.impairments.get_mut(&link).is_some_and(Impairment::corrupts);
        if known || *model != LossModel::None {
            self.impairment_mut(link).set_loss(model, rate, stream);
        }
    }

    /// Takes over a link from the partition that it ends in.
    pub fn take_over(&mut self, link: usize, other: &mut Self) {
        std::mem::swap(&mut self.all[link], &mut other.all[link]);
        if let Some(impairment) = other.impairments.remove(&link) {
            self.impairments.insert(link, impairment);
        }
    }

    fn impairment_mut(&mut self, link: usize) -> &mut Impairment {
        self.all[link].node |= IS_IMPAIRED;
        self.impairments.entry(link).or_default()
    }

    /// Makes [`Self::arrive`] decide about each frame of a link, so that its frames can be captured.
    pub fn watch(&mut self, link: usize) {
        self.impairment_mut(link);
    }

    /// Removes the loss model of a link that ends in a switch elsewhere: the receiving end applies it.
    pub fn clear_loss(&mut self, link: usize) {
        if let Some(impairment) = self.impairments.get_mut(&link) {
            impairment.clear_loss();
        }
    }

    /// For each impaired link, the number of runs of 1, 2, ... consecutive corrupted frames.
    pub fn corrupted_runs(&self) -> impl Iterator<Item = (usize, &[u64])> {
        self.impairments.iter().map(|(&link, impairment)| (link, impairment.corrupted_runs()))
    }

    /// Takes a link down or up.
    pub fn set_state(&mut self, link: usize, now: Time, state: LinkState) {
        self.impairment_mut(link).set_state(now, state);
    }

    /// Since when a link has been down; `None` while it is up.
    pub fn down_since(&self, link: usize) -> Option<Time> {
        self.impairments.get(&link).and_then(Impairment::down_since)
    }

    /// Decides whether a control ordered set that arrives at `at` is intact. The loss model sees it as a frame of eight
    /// bytes, so a loss model that ignores length loses it as often as a full frame. No counter includes it.
    pub fn carry_ordered_set(&mut self, link: u32, at: Time) -> bool {
        let set = ArrivingFrame { at, frame_bytes: ORDERED_SET_BYTES, is_link_retransmission: false };
        self.fate(link, set) == Fate::Arrives
    }

    /// Decides the fate of an arriving frame and counts it.
    pub fn arrive(&mut self, link: u32, frame: ArrivingFrame) -> Fate {
        let fate = self.fate(link, frame);
        match (fate, self.impairments.get_mut(&(link as usize))) {
            (Fate::Corrupted, Some(impairment)) => impairment.corrupted += 1,
            (Fate::LostDown, Some(impairment)) => impairment.lost_down += 1,
            _ => self.at(link).count_arrival(frame.at, frame.frame_bytes),
        }
        fate
    }

    fn fate(&mut self, link: u32, frame: ArrivingFrame) -> Fate {
        let delay = self.all[link as usize].delay();
        match self.impairments.get_mut(&(link as usize)) {
            Some(impairment) => impairment.fate(frame, delay),
            None => Fate::Arrives,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> Link {
        Link::new(Endpoint { node: Node::Host(HostId(0)), port: PortId(0) }, Duration::from_us(1))
    }

    fn frame(at: Time) -> ArrivingFrame {
        ArrivingFrame { at, frame_bytes: 1_518, is_link_retransmission: false }
    }

    #[test]
    fn a_link_that_never_loses_a_frame_stays_clean() {
        let mut links = Links::new(vec![link()]);
        let stream = || unreachable!("nothing is drawn");
        links.set_loss(0, &LossModel::None, BitRate::from_gbps(100), stream);
        assert!(links.impairments.is_empty() && !links.at(0).is_impaired());
    }

    #[test]
    fn a_link_is_a_cache_line_and_remembers_both_its_ends() {
        assert_eq!(size_of::<Link>(), 64);
        for node in [Node::Host(HostId(4_000_000)), Node::Switch(SwitchId(4_000_000))] {
            for (port, ps) in [(0, 0), (u16::MAX, (1 << 48) - 1)] {
                let to = Endpoint { node, port: PortId(port) };
                let link = Link::new(to, Duration(ps));
                assert_eq!((link.to(), link.delay()), (to, Duration(ps)));
            }
        }
    }

    #[test]
    fn a_frame_is_lost_when_the_link_was_down_at_any_time_under_way() {
        let us = |count| Time(Duration::from_us(count).as_ps());
        let mut links = Links::new(vec![link()]);
        assert_eq!(links.fate(0, frame(us(10))), Fate::Arrives);
        links.set_state(0, us(20), LinkState::Down);
        assert_eq!(links.fate(0, frame(us(20))), Fate::LostDown);
        links.set_state(0, us(30), LinkState::Up);
        let half = Time(us(30).as_ps() + 500_000);
        assert_eq!(links.fate(0, frame(half)), Fate::LostDown, "it left before the link came up");
        assert_eq!(links.fate(0, frame(us(31))), Fate::Arrives);
    }

    #[test]
    fn frames_that_arrived_are_those_sent_that_are_neither_under_way_nor_lost() {
        let mut links = Links::new(vec![link()]);
        for packet in 0..3 {
            let _ = links.at(0).send(PacketHandle(packet), Time(0));
        }
        links.at(0).take();
        links.at(0).count_arrival(Time(1), 100);
        links.set_state(0, Time(1), LinkState::Down);
        links.at(0).take();
        assert_eq!(links.arrive(0, frame(Time(2))), Fate::LostDown);
        let counters = links.counters(0);
        let LinkCounters { frames_sent, frames_arrived, frames_lost_down, bytes_arrived, .. } = counters;
        assert_eq!((frames_sent, frames_arrived, frames_lost_down, bytes_arrived), (3, 1, 1, 100));
        assert_eq!(counters.in_flight(), 1);
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
        let [a, b, c] = [1, 2, 3].map(PacketHandle);
        assert_eq!(link.send(a, at(0)), Some(at(1)));
        assert_eq!((link.send(b, at(2)), link.send(c, at(3))), (None, None));
        assert_eq!(link.take(), (a, Some(at(3))));
        assert_eq!(link.take(), (b, Some(at(4))));
        assert_eq!(link.take(), (c, None));
        assert_eq!(link.send(a, at(5)), Some(at(6)));
    }
}
