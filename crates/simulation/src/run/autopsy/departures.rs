//! The latest departures of all ports: they tell which frames stood in front of a packet.
//!
//! A departure names the one before it at its port. So a walk back from a packet's departure, until the packet joined
//! its queue, finds the frames that left while it waited. At a FIFO these are the frames in front of it. The walk takes
//! place once, at the end of a message or at a collection: a hop only adds its departure.
//!
//! Memory: a collection frees the departures that are in front of no wait of a ledger, and of no packet that waits now.
//! Waits at one port mostly share their departures, so they are kept. If they take more room than [`Front`]s, the next
//! collection replaces the waits that this one has kept with fronts. A departure costs at most two more steps: the next
//! collection waits for at least as many departures as this one has kept, and as it has visited for fronts.

use hitless_core::wire::{FlowId, Time};

use super::front::{Front, Tally};
use super::kind::{Frame, Kind};
use super::port::Port;

/// A wait in a queue, in a ledger: the number of its departure or, with [`SETTLED`], of its front; 0 without a wait.
pub(super) type Wait = u32;

const SETTLED: Wait = 1 << 31;

/// Minimum number of departures between two collections.
const SPARE: usize = 65_536;

/// Minimum number of departures between two collections, for each packet: a packet on a path of up to six links ends
/// before its wait is old.
const SPARE_BY_PACKET: usize = 8;

/// Number of departures that take as much room as a front: 24 B and 40 B for each of about six rows.
const FRONT_DEPARTURES: usize = 8;

/// A frame that a port has sent.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Departure {
    /// The frame joins the queue after the port's lead.
    pub arrived_at: Time,
    pub last_bit_at: Time,
    /// The departure before it at the same port; 0 if that is forgotten.
    pub before: u32,
    pub flow: FlowId,
    /// The port.
    pub place: u32,
    pub frame: Frame,
}

const _: () = assert!(size_of::<Departure>() == 32, "documented: 32 B for each departure");

/// No departure.
const NONE: Departure = Departure {
    arrived_at: Time::ZERO,
    last_bit_at: Time::ZERO,
    before: 0,
    flow: FlowId(0),
    place: 0,
    frame: Frame::new(0, Kind::DATA),
};

/// The latest departures, and the fronts of older ones.
#[derive(Debug)]
pub(super) struct Departures {
    /// Departures of all ports, in the order of their handling; the first is a dummy.
    all: Vec<Departure>,
    collected_at: usize,
    /// Minimum number of departures between two collections.
    spare: usize,
    /// The next collection replaces waits for departures below this number with fronts.
    old: usize,
    fronts: Vec<Front>,
}

impl Default for Departures {
    fn default() -> Self {
        Self { all: vec![NONE], collected_at: SPARE, spare: SPARE, old: 0, fronts: Vec::new() }
    }
}

impl Departures {
    /// Adds a departure and returns its number.
    #[inline(always)]
    pub fn add(&mut self, departure: Departure) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(departure);
        number
    }

    /// Collects after this number of departures, or as many as some for each packet.
    #[cfg(test)]
    pub fn collect_after(&mut self, spare: usize) {
        (self.spare, self.collected_at) = (spare, spare);
    }

    #[cfg(test)]
    pub fn has_collected(&self, spare: usize) -> bool {
        self.collected_at != spare
    }

    /// Whether [`Self::collect`] is due.
    #[inline(always)]
    pub fn are_due(&self) -> bool {
        self.all.len() >= self.collected_at
    }

    /// Returns the frames in front of a wait.
    pub fn front(&self, wait: Wait, ports: &[Port], tally: &mut Tally) -> Front {
        if wait & SETTLED != 0 {
            return self.fronts[(wait ^ SETTLED) as usize].clone();
        }
        self.walk(wait, ports, tally)
    }

    /// Walks from a departure back to the time at which the frame joined its queue.
    fn walk(&self, number: u32, ports: &[Port], tally: &mut Tally) -> Front {
        let own = &self.all[number as usize];
        let port = &ports[own.place as usize];
        let joined_at = own.arrived_at + port.lead;
        let mut number = own.before;
        while number != 0 {
            let ahead = &self.all[number as usize];
            let left_at = port.left_at(ahead.last_bit_at);
            if left_at <= joined_at {
                break;
            }
            let line_time = port.line.time_for(ahead.frame.bytes());
            tally.add(ahead.flow, ahead.frame, line_time.min(left_at - joined_at));
            number = ahead.before;
        }
        let front = tally.front(own.place, own.flow);
        if port.is_fifo {
            let wait = port.left_at(own.last_bit_at) - joined_at - port.line.time_for(own.frame.bytes());
            assert!(front.time_ps() == wait.as_ps(), "{own:?} waited {wait} behind {front:?}");
        }
        front
    }

    /// Frees the departures that no wait needs. `joined` has the arrival of the oldest waiting packet, by port;
    /// `packets` is the number of ledgers of packets.
    pub fn collect<'a>(
        &mut self,
        (now, packets): (Time, usize),
        waits: impl Iterator<Item = &'a mut Wait>,
        mut joined: Vec<Time>,
        ports: &mut [Port],
        tally: &mut Tally,
    ) {
        assert!(self.all.len() < SETTLED as usize, "an autopsy keeps 2^31 departures");
        let steps_before = tally.steps;
        let mut young = self.settle(waits, ports, tally);
        let mut needed = Needed::new(self.all.len());
        young.iter().for_each(|wait| needed.add(**wait));
        joined.iter_mut().for_each(|joined_at| *joined_at = now.min(*joined_at));
        self.mark(&mut needed, joined, ports);
        needed.count();
        self.keep(&needed, ports);
        young.iter_mut().for_each(|wait| **wait = needed.place_of(**wait));
        let (kept, steps) = (self.all.len(), (tally.steps - steps_before) as usize);
        let is_much = kept > self.spare.max(FRONT_DEPARTURES * young.len());
        self.old = if is_much { kept } else { 0 };
        self.collected_at = kept + self.spare.max(SPARE_BY_PACKET * packets).max(steps).max(kept);
    }

    /// Marks the departures in front of the marked ones, and those since the times in `joined`, by port.
    fn mark(&self, needed: &mut Needed, mut joined: Vec<Time>, ports: &[Port]) {
        // From the latest on: a departure is in front of a later one if it left after that one had joined the queue.
        for (word, departures) in needed.words.iter_mut().zip(self.all.chunks(64)).rev() {
            // The next departure's bit is the highest: shifts by one are faster than by the number of a bit.
            let (mut marks, mut kept) = (*word << (64 - departures.len()), 0);
            for departure in departures.iter().rev() {
                let joined_at = &mut joined[departure.place as usize];
                if marks & 1 << 63 != 0 {
                    *joined_at = (departure.arrived_at + ports[departure.place as usize].lead).min(*joined_at);
                }
                // A FIFO hands over a packet before it leaves: the departures to come are in front of the next packets.
                let is_needed = marks >> 63 | u64::from(departure.last_bit_at >= *joined_at);
                (marks, kept) = (marks << 1, kept << 1 | is_needed);
            }
            *word = kept;
        }
        // The dummy.
        needed.words[0] |= 1;
    }

    /// Frees the departures without a mark. A port's frames leave one after the other, so a walk over a gap ends behind
    /// it, as it would have ended in it.
    fn keep(&mut self, needed: &Needed, ports: &mut [Port]) {
        ports.iter_mut().for_each(|port| port.latest = 0);
        let mut kept = 0;
        for (place, word) in needed.words.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let departure = self.all[64 * place + rest.trailing_zeros() as usize];
                let latest = &mut ports[departure.place as usize].latest;
                self.all[kept] = Departure { before: *latest, ..departure };
                *latest = kept as u32;
                (kept, rest) = (kept + 1, rest & (rest - 1));
            }
        }
        self.all.truncate(kept);
    }

    /// Replaces the waits for old departures with fronts, and returns the others. Fronts without a wait are freed.
    fn settle<'a>(
        &mut self,
        waits: impl Iterator<Item = &'a mut Wait>,
        ports: &[Port],
        tally: &mut Tally,
    ) -> Vec<&'a mut Wait> {
        let old = std::mem::take(&mut self.fronts);
        let (mut of_departures, mut of_fronts) = (vec![0; self.old], vec![0; old.len()]);
        let (mut fronts, mut young) = (Vec::new(), Vec::new());
        for wait in waits.filter(|wait| **wait != 0) {
            let settled = (*wait & SETTLED != 0).then_some((*wait ^ SETTLED) as usize);
            let known: &mut Wait = match settled {
                Some(front) => &mut of_fronts[front],
                None if (*wait as usize) < self.old => &mut of_departures[*wait as usize],
                None => {
                    young.push(wait);
                    continue;
                }
            };
            if *known == 0 {
                let front = settled.map_or_else(|| self.walk(*wait, ports, tally), |front| old[front].clone());
                *known = SETTLED | fronts.len() as u32;
                fronts.push(front);
            }
            *wait = *known;
        }
        self.fronts = fronts;
        young
    }
}

/// The departures that a collection keeps: a bit for each.
struct Needed {
    words: Vec<u64>,
    /// Number of bits before each word.
    before: Vec<u32>,
}

impl Needed {
    fn new(departures: usize) -> Self {
        Self { words: vec![0; departures.div_ceil(64)], before: Vec::new() }
    }

    fn add(&mut self, number: u32) {
        self.words[number as usize / 64] |= 1 << (number % 64);
    }

    /// Counts the bits, for [`Self::place_of`].
    fn count(&mut self) {
        let mut bits = 0;
        let add = |word: &u64| (bits, bits += word.count_ones()).0;
        self.before = self.words.iter().map(add).collect();
    }

    /// Returns the number of a kept departure among the kept ones.
    fn place_of(&self, number: u32) -> u32 {
        let (word, bit) = (number as usize / 64, number % 64);
        self.before[word] + (self.words[word] & ((1 << bit) - 1)).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds frames of 105 B at a port of 1 Gb/s: with 20 B more, 1 us each. Returns the last one's number.
    fn sent(departures: &mut Departures, port: &mut Port, frames: &[(u64, u64, u32)]) -> u32 {
        for &(arrived_us, left_us, flow) in frames {
            port.latest = departures.add(Departure {
                arrived_at: Time(arrived_us * 1_000_000),
                last_bit_at: Time(left_us * 1_000_000),
                before: port.latest,
                flow: FlowId(flow),
                place: 0,
                frame: Frame::new(105, Kind::DATA),
            });
        }
        port.latest
    }

    fn seen(front: &Front) -> Vec<(u32, u32, u64)> {
        front.rows.iter().map(|row| (row.flow, row.frames, row.time_ps)).collect()
    }

    #[test]
    fn a_collection_keeps_fronts_and_the_departures_that_waiting_packets_need() {
        let (mut departures, mut tally, mut ports) = (Departures::default(), Tally::default(), [Port::missing()]);
        (0..4).for_each(|_| tally.add_flow(0));
        let mut first: Vec<_> = (1..=17).map(|left_us| (0, left_us, 1)).collect();
        first.extend([(0, 18, 2), (1, 19, 3)]);
        let wait = sent(&mut departures, &mut ports[0], &first);
        let expected = [(1, 16, 16_000_000), (2, 1, 1_000_000)];
        assert_eq!(seen(&departures.front(wait, &ports, &mut tally)), expected);
        let mut waits = [wait, 0, wait];
        let mut collect = |departures: &mut Departures, waits: &mut [Wait], at_us: u64, joined: Time| {
            let at = Time(at_us * 1_000_000);
            departures.collect((at, 1), waits.iter_mut(), vec![joined], &mut ports, &mut tally);
            let front = if waits[0] == 0 { None } else { Some(departures.front(waits[0], &ports, &mut tally)) };
            (departures.all.len(), ports[0].latest, departures.fronts.len(), front)
        };
        // A packet has joined the port at 2 us, and still waits: the first frame is needed for the wait since 1 us.
        let (all, latest, fronts, front) = collect(&mut departures, &mut waits, 24, Time(2_000_000));
        assert_eq!((all, latest, fronts, seen(&front.expect("it waited"))), (20, 19, 0, expected.to_vec()));
        assert_eq!((waits[0], waits[1]), (waits[2], 0));
        // Few departures are kept as they are, without those that no wait needs any more.
        let (all, latest, fronts, front) = collect(&mut departures, &mut waits, 25, Time::NEVER);
        assert_eq!((all, latest, fronts, seen(&front.expect("it waited"))), (20, 19, 0, expected.to_vec()));
        departures.spare = 0;
        collect(&mut departures, &mut waits, 26, Time::NEVER);
        // Many are replaced by a front.
        for at_us in [27, 28] {
            let (all, latest, fronts, front) = collect(&mut departures, &mut waits, at_us, Time::NEVER);
            assert_eq!((all, latest, fronts, seen(&front.expect("it waited"))), (1, 0, 1, expected.to_vec()));
            assert_eq!(waits[0], waits[2]);
        }
        collect(&mut departures, &mut [0], 29, Time::NEVER);
        assert!(departures.fronts.is_empty());
    }

    #[test]
    fn a_walk_over_freed_departures_ends_behind_them() {
        let (mut departures, mut tally, mut ports) = (Departures::default(), Tally::default(), [Port::missing()]);
        (0..4).for_each(|_| tally.add_flow(0));
        let early = sent(&mut departures, &mut ports[0], &[(0, 1, 0), (0, 2, 1)]);
        let late = sent(&mut departures, &mut ports[0], &[(5, 6, 2), (9, 10, 3), (9, 11, 0), (9, 12, 1)]);
        let mut waits = [early, late];
        departures.collect((Time(20_000_000), 1), waits.iter_mut(), vec![Time::NEVER], &mut ports, &mut tally);
        // Without the frame of flow 2, which nobody waited for.
        assert_eq!((departures.all.len(), waits, ports[0].latest), (6, [2, 5], 5));
        let found = waits.map(|wait| seen(&departures.front(wait, &ports, &mut tally)));
        assert_eq!(found, [vec![(0, 1, 1_000_000)], vec![(0, 1, 1_000_000), (3, 1, 1_000_000)]]);
        // A new packet joins behind them while the last one leaves.
        let next = sent(&mut departures, &mut ports[0], &[(11, 13, 2)]);
        assert_eq!(seen(&departures.front(next, &ports, &mut tally)), [(1, 1, 1_000_000)]);
    }

    #[test]
    fn the_numbers_of_kept_departures_are_their_ranks() {
        let mut needed = Needed::new(300);
        let kept = [0, 1, 63, 64, 190, 191, 192, 299];
        kept.iter().for_each(|&number| needed.add(number));
        needed.count();
        assert!((0..).zip(kept).all(|(rank, number)| needed.place_of(number) == rank));
    }

    #[test]
    fn the_flow_itself_and_three_others_have_rows_of_their_own() {
        let mut tally = Tally::default();
        (0..9).for_each(|flow| tally.add_flow(flow % 2));
        let frame = |bytes, kind| Frame::new(bytes, kind);
        for flow in 0..9 {
            tally.add(FlowId(flow), frame(100 + flow, Kind::DATA), Port::missing().line.time_for(105));
        }
        tally.add(FlowId(2), frame(64, Kind::DATA.copied(1)), Port::missing().line.time_for(105));
        let front = tally.front(0, FlowId(4));
        let rows: Vec<_> = front.rows.iter().map(|row| (row.kind.name(), row.flow, row.flows, row.bytes)).collect();
        let [own, eight, seven, six] = [104, 108, 107, 106].map(|bytes| ("data", bytes as u32 - 100, 1, bytes));
        let [even, odd] = [("data", 2, 2, 102 + 100), ("data", 5, 3, 105 + 103 + 101)];
        assert_eq!(rows, [own, eight, seven, six, even, odd, ("copies", 2, 0, 64)]);
        assert!(tally.front(0, FlowId(0)).rows.is_empty(), "a front has no frames of another");
    }
}
