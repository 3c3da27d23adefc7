//! The packet sequencer (section III-B) and the post-detour handler (section III-C): the order of detoured packets, and
//! the time at which new packets of a flow are forwarded again.
//!
//! | stage | register | width | entries |
//! |---|---|---|---|
//! | 8 | detour in progress, since when, last arrival, port; with a flowlet gap only | 2 + 48 + 48 + 9 | per slot |
//! | 9 | S_f, since when packets wait for it | 32 + 32 | per slot |
//! | 10 | S_a | 32 | per slot |
//! | 11 | neighbour of the detour in progress | 9 | per slot |

use hitless_core::wire::{Duration, PortId};
use hitless_switch::canary::{Canary, sings};
use hitless_switch::{Half, Pass, RegisterArray, RegisterCell, RegisterUse, register_cell};

use super::alarm::Phase;
use super::clock::{Stamp, ticks};
use super::settings::{RimmRelease, RimmSettings};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewTurn {
    Forward,
    Detour {
        number: u32,
        /// Whether a detour of its slot begins with it.
        is_first: bool,
    },
}

/// The decision on a packet that comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnTurn {
    /// Forward it in its turn.
    Released,
    /// Forward it ahead of its turn: the packets before it are given up.
    Early,
    /// Forward it after packets that were behind it: it had been given up, or is a copy.
    Late,
    Detour,
}

/// Whether a packet that comes back may be forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// No: its queue is above the threshold.
    Closed,
    /// Yes, in its turn.
    Open,
    /// Yes, at once: it has reached the maximum number of detours, or no neighbour is left.
    Forced,
}

/// Whether the packets of a slot are being detoured.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Flow {
    state: FlowState,
    since: Stamp,
    arrived_at: Stamp,
    /// The port with the alarm that began the detour: flows towards other ports can share the slot.
    towards: PortId,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
enum FlowState {
    #[default]
    Direct,
    Detoured,
    /// The detour has reached its maximum time, and the queue has been above the threshold ever since.
    Ended,
}

/// S_f, the next number to be released, and the time since when others have waited for it.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Next {
    number: u32,
    /// Low bits of nanoseconds; 0 if no packet waits.
    waiting_since_ns: u32,
}

impl Next {
    fn go_on(&mut self, number: u32) {
        *self = Self { number, waiting_since_ns: 0 };
    }

    /// Notes that a packet waits. After a wait of `timeout_ns` the number counts as lost, and this returns true. The
    /// next number gets only a quarter of that time, which is enough for each remaining packet to come by once.
    fn gives_up(&mut self, now_ns: u32, timeout_ns: u32) -> bool {
        if self.waiting_since_ns == 0 {
            self.waiting_since_ns = not_zero(now_ns);
        }
        let gives_up = now_ns.wrapping_sub(self.waiting_since_ns) >= timeout_ns;
        if gives_up {
            self.number = self.number.wrapping_add(1);
            self.waiting_since_ns = not_zero(now_ns.wrapping_sub(timeout_ns - timeout_ns / 4));
        }
        gives_up
    }
}

/// Replaces 0, which means no time, by the previous nanosecond, which is never in the future.
fn not_zero(time_ns: u32) -> u32 {
    if time_ns == 0 { u32::MAX } else { time_ns }
}

impl RegisterCell for FlowState {
    const BITS: u32 = 2;
}

register_cell!(Flow { state: FlowState, since: Stamp, arrived_at: Stamp, towards: PortId });
register_cell!(Next { number: u32, waiting_since_ns: u32 });

#[derive(Debug, hitless_core::state::State)]
pub struct Sequencer {
    #[part]
    flows: RegisterArray<Flow>,
    #[part]
    next: RegisterArray<Next>,
    #[part]
    attached: RegisterArray<u32>,
    #[part]
    neighbours: RegisterArray<PortId>,
    #[configured]
    release: RimmRelease,
    /// chi, in ticks.
    gap: u64,
    /// Maximum time of a detour, in ticks.
    detour_max: Option<u64>,
    timeout_ns: u32,
    hash_bits: u8,
}

impl Sequencer {
    pub fn new(settings: &RimmSettings, first_number: u32) -> Self {
        assert!(settings.hash_bits <= 32, "a slot is of {} bits of a hash of 32", settings.hash_bits);
        let slots = 1 << settings.hash_bits;
        let in_ticks = |time: Option<Duration>| ticks(time.unwrap_or(Duration::ZERO));
        let next = Next { number: first_number, waiting_since_ns: 0 };
        Self {
            flows: RegisterArray::new("detour", Half::Ingress, 8, slots, Flow::default()),
            next: RegisterArray::new("S_f", Half::Ingress, 9, slots, next),
            attached: RegisterArray::new("S_a", Half::Ingress, 10, slots, first_number),
            neighbours: RegisterArray::new("detouring neighbour", Half::Ingress, 11, slots, PortId(u16::MAX)),
            release: settings.release,
            gap: in_ticks(settings.flowlet_gap),
            detour_max: settings.flow_detour_max.map(ticks),
            timeout_ns: in_ticks(settings.predecessor_timeout).min(u64::from(u32::MAX / 2)) as u32,
            hash_bits: settings.hash_bits,
        }
    }

    /// The registers for the report of resources, depending on the kind of release.
    pub fn stated(&self) -> Vec<RegisterUse> {
        let flows = (self.release == RimmRelease::FlowletGap).then(|| self.flows.stated());
        let next = (self.release != RimmRelease::Unordered).then(|| self.next.stated());
        let others = [self.attached.stated(), self.neighbours.stated()];
        flows.into_iter().chain(next).chain(others).collect()
    }

    pub fn slot(&self, flow_hash: u32) -> usize {
        // Multiplies by the fraction of the golden ratio. The shift is done in 64 bits, because 0 bits of hash would
        // overflow 32.
        let mixed = u64::from(flow_hash.wrapping_mul(0x9e37_79b9));
        (mixed << self.hash_bits >> 32) as usize
    }

    /// Whether the next new packet of the slot can be detoured although its port has no alarm; read from outside the
    /// pipeline.
    pub fn is_detoured(&self, slot: usize) -> bool {
        match self.release {
            RimmRelease::FlowletGap => self.flows.peek(slot).state == FlowState::Detoured,
            RimmRelease::Exact => self.has_waiting(slot),
            RimmRelease::Unordered => false,
        }
    }

    /// Whether the slot has unreleased packets; read from outside the pipeline.
    pub fn has_waiting(&self, slot: usize) -> bool {
        self.release != RimmRelease::Unordered && self.attached.peek(slot) != self.next.peek(slot).number
    }

    /// Decides on a new packet `towards` a port with its alarm in `phase`.
    pub fn new_packet(
        &mut self,
        pass: &mut Pass,
        slot: usize,
        (towards, phase): (PortId, Phase),
        can_be_detoured: bool,
        now: Stamp,
    ) -> NewTurn {
        let is_first = match self.release {
            RimmRelease::Unordered => (phase == Phase::Detour && can_be_detoured).then_some(true),
            RimmRelease::Exact => return self.exact(pass, slot, phase, can_be_detoured),
            RimmRelease::FlowletGap => self.by_gap(pass, slot, (towards, phase), can_be_detoured, now),
        };
        match is_first {
            Some(is_first) => NewTurn::Detour { number: self.attached.access(pass, slot, take_number), is_first },
            None => NewTurn::Forward,
        }
    }

    /// Chooses the neighbour for a new detoured packet. Keeps the neighbour of earlier packets if it has plenty of
    /// room; otherwise switches to `least`.
    pub fn neighbour(
        &mut self,
        pass: &mut Pass,
        slot: usize,
        is_first: bool,
        least: PortId,
        is_roomy: impl Fn(PortId) -> bool,
    ) -> PortId {
        self.neighbours.access(pass, slot, |kept| {
            if is_first || !is_roomy(*kept) {
                *kept = least;
            }
            *kept
        })
    }

    /// Detours until all earlier packets are released: reads S_f first, and advances S_a if the packet is detoured.
    fn exact(&mut self, pass: &mut Pass, slot: usize, phase: Phase, can_be_detoured: bool) -> NewTurn {
        // The decision advances S_a, so that S_f must be in an earlier stage.
        let next = self.next.access(pass, slot, |next| next.number);
        self.attached.access(pass, slot, |attached| {
            // Without an alarm a new packet still follows its detoured predecessors: forwarded at once it would
            // overtake them (section III-C).
            let wants = match phase {
                Phase::Detour => true,
                Phase::NoAlarm => *attached != next,
                Phase::Ended => false,
            };
            let is_first = *attached == next;
            if wants && can_be_detoured {
                // The header "copies the current value of S_a", and "then S_a increments by one" (section III-B).
                NewTurn::Detour { number: take_number(attached), is_first }
            } else {
                NewTurn::Forward
            }
        })
    }

    /// Ends the detour after an idle time of chi, when its port's detour ends, or after the maximum time. A packet of
    /// another flow in the slot is forwarded and ends nothing if it cannot be detoured or its port's detour has ended.
    /// For a detoured packet, returns whether the detour begins with it.
    fn by_gap(
        &mut self,
        pass: &mut Pass,
        slot: usize,
        (towards, phase): (PortId, Phase),
        can_be_detoured: bool,
        now: Stamp,
    ) -> Option<bool> {
        debug_assert_eq!(self.release, RimmRelease::FlowletGap, "asked of one with a gap only");
        let (gap, detour_max) = (self.gap, self.detour_max);
        self.flows.access(pass, slot, |flow| {
            let was_detoured = flow.state == FlowState::Detoured;
            // t_diff of section III-C: each new packet restarts the idle time, so that only a pause of chi ends the
            // detour.
            let is_gap = flow.arrived_at.until(now) >= gap;
            flow.arrived_at = now;
            // Flows towards other ports share the slot (section III-B). Their ended alarm, or their lack of a path,
            // says nothing about the flow that is being detoured.
            if was_detoured && flow.towards != towards && (phase == Phase::Ended || !can_be_detoured) {
                return None;
            }
            let is_over = detour_max.is_some_and(|longest| flow.since.until(now) >= longest);
            match (flow.state, phase) {
                (_, Phase::Ended) => flow.state = FlowState::Direct,
                (FlowState::Direct, Phase::NoAlarm) => {}
                (FlowState::Direct, Phase::Detour) if can_be_detoured => {
                    (flow.state, flow.since, flow.towards) = (FlowState::Detoured, now, towards);
                }
                (FlowState::Direct, Phase::Detour) => {}
                (FlowState::Detoured, Phase::Detour) if is_over => flow.state = FlowState::Ended,
                (FlowState::Detoured, Phase::NoAlarm) if is_over || is_gap => flow.state = FlowState::Direct,
                (FlowState::Detoured, _) if !can_be_detoured => flow.state = FlowState::Direct,
                (FlowState::Detoured, _) | (FlowState::Ended, Phase::Detour) => {}
                (FlowState::Ended, Phase::NoAlarm) => flow.state = FlowState::Direct,
            }
            (flow.state == FlowState::Detoured).then_some(!was_detoured)
        })
    }

    /// Decides on a packet that has come back with its number. Returns the decision and the number of numbers given up.
    pub fn returning(
        &mut self,
        pass: &mut Pass,
        slot: usize,
        number: u32,
        gate: Gate,
        now_ns: u32,
    ) -> (ReturnTurn, u32) {
        if self.release == RimmRelease::Unordered {
            return (if gate == Gate::Closed { ReturnTurn::Detour } else { ReturnTurn::Released }, 0);
        }
        let timeout_ns = self.timeout_ns;
        self.next.access(pass, slot, |next| {
            let is_ahead = |next: &Next| number.wrapping_sub(next.number) as i32 > 0;
            // The paper frees a packet only if S_a equals S_f, so that one lost packet would hold its flow for ever.
            // Here the wait for it ends.
            let gives_up = gate == Gate::Open && is_ahead(next) && next.gives_up(now_ns, timeout_ns);
            let ahead = number.wrapping_sub(next.number) as i32;
            match (ahead.signum(), gate) {
                // The next packet exists, although its queue is closed: no other packet waits for a lost one.
                (0, Gate::Closed) => {
                    next.waiting_since_ns = 0;
                    (ReturnTurn::Detour, 0)
                }
                (0, Gate::Open | Gate::Forced) => {
                    next.go_on(number.wrapping_add(1));
                    (ReturnTurn::Released, gives_up.into())
                }
                // Its number was given up, so that holding it back would gain nothing.
                (-1, Gate::Open | Gate::Forced) => (ReturnTurn::Late, 0),
                (1, Gate::Open) if sings(Canary::LostTurn) => (ReturnTurn::Early, 0),
                // Packets before it are given up: releasing them later would reorder them anyway.
                (1, Gate::Forced) => {
                    next.go_on(number.wrapping_add(1));
                    (ReturnTurn::Early, ahead as u32)
                }
                (_, Gate::Closed | Gate::Open | Gate::Forced) => (ReturnTurn::Detour, gives_up.into()),
            }
        })
    }

    /// All slots with different S_a and S_f.
    pub fn open_slots(&self) -> impl Iterator<Item = usize> + '_ {
        (0..1 << self.hash_bits).filter(|&slot| self.has_waiting(slot))
    }
}

fn take_number(attached: &mut u32) -> u32 {
    let number = *attached;
    *attached = number.wrapping_add(1);
    number
}

#[cfg(test)]
mod every_way;
#[cfg(test)]
mod tests {
    use super::*;

    fn pass() -> Pass {
        let mut pass = Pass::new(true);
        pass.begin(Half::Ingress);
        pass
    }

    fn sequencer(release: RimmRelease, first_number: u32) -> Sequencer {
        let [flowlet_gap, predecessor_timeout] = [100, 1_000].map(|ns| Some(Duration::from_ns(ns)));
        let settings =
            RimmSettings { release, flowlet_gap, predecessor_timeout, hash_bits: 4, ..RimmSettings::default() };
        Sequencer::new(&settings, first_number)
    }

    #[test]
    fn packets_of_a_detour_keep_their_neighbour_while_it_has_room() {
        let mut sequencer = sequencer(RimmRelease::Exact, 0);
        // Whether a detour begins; the shortest queue; the full neighbour, if any; the expected neighbour.
        let steps = [
            (true, 1, None, 1),
            (false, 2, None, 1),
            (false, 2, Some(1), 2),
            (false, 1, None, 2),
            (true, 1, None, 1),
            (false, 2, Some(2), 1),
        ];
        for (is_first, least, full, expected) in steps {
            let is_roomy = |port: PortId| Some(port.0) != full;
            let got = sequencer.neighbour(&mut pass(), 3, is_first, PortId(least), is_roomy);
            assert_eq!(got, PortId(expected), "{is_first} {least} {full:?}");
        }
        let other = sequencer.neighbour(&mut pass(), 4, true, PortId(7), |_| true);
        assert_eq!(other, PortId(7), "another slot has a neighbour of its own");
    }

    /// With the exact release a detour begins whenever no packet of the slot is away.
    #[test]
    fn a_detour_begins_when_all_that_went_before_are_released() {
        let mut sequencer = sequencer(RimmRelease::Exact, u32::MAX);
        let new_packet = |sequencer: &mut Sequencer, phase| {
            sequencer.new_packet(&mut pass(), 3, (PortId(0), phase), true, Stamp::default())
        };
        let begins = |number, is_first| NewTurn::Detour { number, is_first };
        assert_eq!(new_packet(&mut sequencer, Phase::Detour), begins(u32::MAX, true));
        assert_eq!(new_packet(&mut sequencer, Phase::NoAlarm), begins(0, false));
        for number in [u32::MAX, 0] {
            let turn = sequencer.returning(&mut pass(), 3, number, Gate::Open, 1);
            assert_eq!(turn, (ReturnTurn::Released, 0));
        }
        assert_eq!(new_packet(&mut sequencer, Phase::NoAlarm), NewTurn::Forward);
        assert_eq!(new_packet(&mut sequencer, Phase::Detour), begins(1, true));
    }

    #[test]
    fn with_a_gap_a_detour_begins_with_its_first_packet_only() {
        let mut sequencer = sequencer(RimmRelease::FlowletGap, 0);
        let steps = [
            (0, Phase::NoAlarm, None),
            (10, Phase::Detour, Some(true)),
            (20, Phase::Detour, Some(false)),
            (90, Phase::NoAlarm, Some(false)),
            (189, Phase::NoAlarm, Some(false)),
            (289, Phase::NoAlarm, None),
            (290, Phase::Detour, Some(true)),
        ];
        for (at_ns, phase, expected) in steps {
            let turn = sequencer.new_packet(&mut pass(), 3, (PortId(0), phase), true, Stamp::new(at_ns));
            let begins = match turn {
                NewTurn::Detour { is_first, .. } => Some(is_first),
                NewTurn::Forward => None,
            };
            assert_eq!(begins, expected, "at {at_ns} ns");
        }
    }

    /// Regression: a packet towards another port (not detourable, or with its alarm over) ended the detour of the flows
    /// in its slot, and their next packets overtook the detoured ones.
    #[test]
    fn a_packet_towards_another_port_ends_no_detour_of_its_slot() {
        let mut sequencer = sequencer(RimmRelease::FlowletGap, 0);
        let steps = [
            (10, 1, Phase::Detour, true, Some(0)),
            (20, 2, Phase::NoAlarm, false, None),
            (30, 2, Phase::Ended, true, None),
            (40, 1, Phase::NoAlarm, true, Some(1)),
            (50, 1, Phase::Ended, true, None),
            (60, 1, Phase::NoAlarm, true, None),
        ];
        for (at_ns, port, phase, can_be_detoured, expected) in steps {
            let towards = (PortId(port), phase);
            let turn = sequencer.new_packet(&mut pass(), 3, towards, can_be_detoured, Stamp::new(at_ns));
            let number = match turn {
                NewTurn::Detour { number, .. } => Some(number),
                NewTurn::Forward => None,
            };
            assert_eq!(number, expected, "at {at_ns} ns");
        }
    }

    /// The next number gets a quarter of the timeout, even if the wait begins at time 0.
    #[test]
    fn a_number_is_given_up_after_the_timeout_and_the_one_behind_it_after_a_quarter() {
        let mut next = Next { number: 7, waiting_since_ns: 0 };
        let gives_up = [100, 1_099, 1_100, 1_349, 1_350].map(|now_ns| next.gives_up(now_ns, 1_000));
        assert_eq!((gives_up, next.number), ([false, false, true, false, true], 9));
        let mut next = Next { number: 0, waiting_since_ns: 0 };
        assert_eq!([0, 0, 998, 999].map(|now_ns| next.gives_up(now_ns, 1_000)), [false, false, false, true]);
    }

    #[test]
    fn nobody_waits_for_a_number_that_has_come_and_was_detoured_again() {
        let mut sequencer = sequencer(RimmRelease::Exact, 0);
        let steps = [
            (1, Gate::Open, 100, (ReturnTurn::Detour, 0)),
            (0, Gate::Closed, 200, (ReturnTurn::Detour, 0)),
            (1, Gate::Open, 1_150, (ReturnTurn::Detour, 0)),
            (1, Gate::Open, 2_150, (ReturnTurn::Released, 1)),
        ];
        for (number, gate, now_ns, expected) in steps {
            let turn = sequencer.returning(&mut pass(), 3, number, gate, now_ns);
            assert_eq!(turn, expected, "number {number} at {now_ns} ns");
        }
    }

    #[test]
    fn a_detour_that_has_lasted_for_as_long_as_it_may_is_over() {
        let flow_detour_max = Some(Duration::from_ns(500));
        let release = RimmRelease::FlowletGap;
        let settings = RimmSettings { release, flow_detour_max, hash_bits: 4, ..RimmSettings::default() };
        let mut sequencer = Sequencer::new(&settings, 0);
        for (at_ns, is_detoured) in [(10, true), (509, true), (510, false)] {
            let turn = sequencer.new_packet(&mut pass(), 3, (PortId(0), Phase::Detour), true, Stamp::new(at_ns));
            assert_eq!(matches!(turn, NewTurn::Detour { .. }), is_detoured, "at {at_ns} ns");
        }
    }
}
