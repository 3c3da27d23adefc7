//! Ingress's knowledge of queues, and its age (sections 4.1, 4.2 and 6, appendix D).
//!
//! If the hardware shows depths only in egress, egress keeps the state of each queue as found by the last departing
//! packet: a queue without departures keeps its last value. There are two ways from egress to ingress. *Control
//! packets*, one per queue, circulate through recirculation ports for ever; each reads its queue's registers in egress
//! and writes them in ingress. An *update gap* models the same without packets: ingress sees the state that egress held
//! at the last multiple of the gap. It costs no event, because a register of egress remembers its value at the last
//! tick.

use crate::deflection::metadata::QueueState;
use hdrhistogram::Histogram;
use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Duration, Packet, PortId, QueueId, Time};
use hitless_switch::{Context, HookSet, Quantity, Report, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capacity::{Capacity, Place};

/// Size of a control packet (section 6).
pub const CONTROL_PACKET_BYTES: u32 = 72;

/// Source of ingress's knowledge of queues. If ingress does not see depths, egress keeps the state of each queue as
/// found by the last departing packet; a queue without departures keeps its last value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "DeflectionOccupancy")]
pub enum Occupancy {
    /// Ingress sees current depths: Tofino 2, and the authors' simulator.
    Immediate(ImmediateOccupancy),
    /// Ingress sees the state that egress held at the last multiple of a time (section 6, figure 14).
    UpdateGap(UpdateGap),
    /// Ingress learns from control packets that circulate through recirculation ports for ever, one per queue (section
    /// 4.1).
    ControlPackets(ControlPackets),
}

impl Default for Occupancy {
    fn default() -> Self {
        Self::Immediate(ImmediateOccupancy {})
    }
}

/// Current state of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImmediateOccupancy {}

/// State of queues at the last tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpdateGap {
    /// Time between ticks.
    #[serde(with = "Text::<Duration>")]
    pub gap: Duration,
    /// Whether ingress sees at once that a queue is full, and only depths and means are late (the authors' simulator).
    pub sees_full_at_once: bool,
}

impl Default for UpdateGap {
    fn default() -> Self {
        Self { gap: Duration::from_us(2), sees_full_at_once: false }
    }
}

/// Packets that inform ingress about queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControlPackets {
    /// Minimum number of control packets, as if the switch had more queues (appendix D: up to 512). Default: one per
    /// queue.
    #[schemars(range(max = 65535))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u16>,
}

/// The state of a queue as kept by egress and ingress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Known {
    /// Whether the queue was full before the last departure: a packet as long as the departed one would have found no
    /// room, with another one like it on the line. Right after a departure there is always room for a packet.
    pub is_full: bool,
    /// The depth after the last departure.
    pub depth_bytes: u64,
    pub mean_rank: u32,
}

/// A register of egress, with its value at the last tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct TickedRegister {
    value: Known,
    written_at: Time,
    /// The value at the last tick before the last write.
    at_tick: Known,
}

impl TickedRegister {
    /// Writes a value. Times never decrease.
    pub fn write(&mut self, now: Time, gap: Duration, value: Known) {
        assert!(now >= self.written_at, "a register is written in the order of time");
        // The old value was valid at the last tick. Two values suffice, because no earlier tick is ever asked for.
        if self.written_at < last_tick(now, gap) {
            self.at_tick = self.value;
        }
        self.value = value;
        self.written_at = now;
    }

    /// The value at the last tick. A write at the tick itself came later.
    pub fn at_last_tick(&self, now: Time, gap: Duration) -> Known {
        if self.written_at < last_tick(now, gap) { self.value } else { self.at_tick }
    }

    pub const fn value(&self) -> Known {
        self.value
    }
}

pub fn last_tick(now: Time, gap: Duration) -> Time {
    Time(now.as_ps() - now.as_ps() % gap.as_ps())
}

/// The report of a control packet in ingress.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct ReportedOccupancy {
    known: Known,
    /// Time at which the packet read it in egress.
    read_at: Time,
    /// Time of its arrival; `None` before the first.
    told_at: Option<Time>,
}

const UPDATE_GAP: Quantity = Quantity::new("update_gap_ns", "time between two updates of a queue (ns)");
const OCCUPANCY_AGE: Quantity = Quantity::new("occupancy_age_ns", "age of the known occupancy at its use (ns)");
/// Histograms of deflection by known occupancies.
pub const QUANTITIES: &[Quantity] = &[crate::detours::PACKET_DETOURS, UPDATE_GAP, OCCUPANCY_AGE];

hitless_switch::counters! {
    pub struct ControlCounters(view: &View) {
        control_packets = "control packets": view.control_packets.len() as u64,
        control_packet_recirculations = "recirculations of control packets": view.recirculations,
    }
}

/// The knowledge of a switch about its queues.
#[derive(Debug, hitless_core::state::State)]
pub(crate) struct View {
    #[configured]
    occupancy: Occupancy,
    /// Recirculation ports that control packets use in turn.
    recirculation_ports: Vec<PortId>,
    /// State by queue, including the imaginary queues of extra control packets.
    egress: Vec<TickedRegister>,
    told: Vec<ReportedOccupancy>,
    /// Time of the last pass through egress, by control packet.
    control_packets: Vec<Time>,
    recirculations: u64,
    #[part]
    between_updates_ns: Histogram<u64>,
    #[part]
    age_ns: Histogram<u64>,
}

impl View {
    pub fn new(occupancy: Occupancy, recirculation_ports: Vec<PortId>) -> Self {
        let histogram = || Histogram::new_with_bounds(1, 1_000_000_000, 3).expect("these bounds are legal");
        Self {
            occupancy,
            recirculation_ports,
            egress: Vec::new(),
            told: Vec::new(),
            control_packets: Vec::new(),
            recirculations: 0,
            between_updates_ns: histogram(),
            age_ns: histogram(),
        }
    }

    /// Whether ingress sees current depths.
    #[inline]
    pub const fn is_immediate(&self) -> bool {
        matches!(self.occupancy, Occupancy::Immediate(_))
    }

    pub fn recirculation_ports(&self) -> &[PortId] {
        if matches!(self.occupancy, Occupancy::ControlPackets(_)) { &self.recirculation_ports } else { &[] }
    }

    pub fn queues(&self) -> usize {
        self.told.len()
    }

    /// Allocates the state of the queues of all ports. Recirculation ports are the last ports of a switch.
    pub fn size(&mut self, queue_counts: &[usize]) {
        let queues: usize = queue_counts.iter().sum();
        let packets = match self.occupancy {
            Occupancy::ControlPackets(ControlPackets { packets }) => {
                // Control packets serve only queues of other ports: one for each such queue, or more if the settings
                // ask for them.
                let of_recirculation = self.recirculation_ports.iter().map(|port| queue_counts[usize::from(port.0)]);
                usize::from(packets.unwrap_or(0)).max(queues - of_recirculation.sum::<usize>())
            }
            Occupancy::Immediate(_) | Occupancy::UpdateGap(_) => 0,
        };
        self.egress = vec![TickedRegister::default(); queues.max(packets)];
        self.told = vec![ReportedOccupancy::default(); queues.max(packets)];
        self.control_packets = vec![Time::ZERO; packets];
        let have_a_port = packets == 0 || !self.recirculation_ports.is_empty();
        assert!(have_a_port, "{packets} control packets have a port to go round by");
        assert!(packets <= usize::from(u16::MAX), "{packets} control packets are numbered by 16 bits");
    }

    pub const fn hooks(&self) -> HookSet {
        if self.is_immediate() { HookSet::NONE } else { HookSet::EGRESS }
    }

    /// Whether the current packet is a control packet.
    #[inline]
    pub fn owns(&self, context: &mut Context<'_>) -> bool {
        !self.is_immediate() && context.is_mine()
    }

    pub fn start(&self, context: &mut Context<'_>) {
        for (index, &port) in (0..self.control_packets.len() as u16).zip(self.recirculation_ports.iter().cycle()) {
            let mut packet = Packet { frame_bytes: CONTROL_PACKET_BYTES, ..Packet::default() };
            let state = QueueState { index, ..QueueState::default() };
            packet.push_shim(state).expect("it carries no other shim");
            context.queue(port, QueueId(0)).emit(packet, 0);
        }
    }

    /// Tests whether a queue is full for the current packet, to the knowledge of ingress, and records the age of that
    /// knowledge.
    #[inline]
    pub fn test_full(&mut self, place: Place, index: usize, context: &mut Context<'_>) -> bool {
        match self.occupancy {
            Occupancy::Immediate(_) | Occupancy::UpdateGap(UpdateGap { sees_full_at_once: true, .. }) => {
                !context.queue(place.port, place.queue).has_room()
            }
            // The bit of the bitmap (section 4.1), as old as the last control packet or tick.
            _ => self.known(index, context.now()).is_full,
        }
    }

    /// The depth of a queue, to the knowledge of ingress.
    #[inline]
    pub fn depth_bytes(&mut self, place: Place, index: usize, context: &mut Context<'_>) -> u64 {
        match self.occupancy {
            Occupancy::Immediate(_) => context.queue(place.port, place.queue).bytes(),
            _ => self.known(index, context.now()).depth_bytes,
        }
    }

    /// The state of a queue that ingress has from egress.
    pub fn known(&mut self, index: usize, now: Time) -> Known {
        match self.occupancy {
            Occupancy::Immediate(_) => Known::default(),
            Occupancy::UpdateGap(UpdateGap { gap, .. }) => {
                self.age_ns.saturating_record(ns(now - last_tick(now, gap)));
                self.egress[index].at_last_tick(now, gap)
            }
            Occupancy::ControlPackets(_) => {
                let told = self.told[index];
                // Before its first report a queue counts as empty, which has no age.
                if told.told_at.is_some() {
                    self.age_ns.saturating_record(ns(now - told.read_at));
                }
                told.known
            }
        }
    }

    /// Records the state of the queue that the current packet leaves.
    pub fn leaves(
        &mut self,
        place: Place,
        index: usize,
        capacity: Capacity,
        mean_rank: Option<u32>,
        context: &mut Context<'_>,
    ) {
        let depth_bytes = context.queue(place.port, place.queue).bytes();
        let frame_bytes = u64::from(context.packet().frame_bytes);
        let capacity_bytes = capacity.bytes(place, context);
        let register = &mut self.egress[index];
        let known = Known {
            // Three frames: the departing frame, a frame on the line, and a frame that would have to fit (see
            // `test_full`).
            is_full: capacity_bytes.is_some_and(|capacity| depth_bytes + 3 * frame_bytes > capacity),
            depth_bytes,
            mean_rank: mean_rank.unwrap_or(register.value.mean_rank),
        };
        let gap = match self.occupancy {
            Occupancy::UpdateGap(UpdateGap { gap, .. }) => gap,
            // Control packets read the value itself: a tick of the smallest time keeps no older one.
            _ => Duration::from_ps(1),
        };
        register.write(context.now(), gap, known);
    }

    /// Lets a control packet read the registers of its queue in egress.
    pub fn read(&mut self, context: &mut Context<'_>) -> Verdict {
        let now = context.now();
        let index = index_of(context.packet());
        let Known { is_full, depth_bytes, mean_rank } = self.egress[usize::from(index)].value();
        let depth_bytes = depth_bytes.try_into().unwrap_or(u32::MAX);
        context.packet().shims.replace(QueueState { index, is_full, depth_bytes, mean_rank });
        self.control_packets[usize::from(index)] = now;
        Verdict::Continue
    }

    /// Lets ingress learn from a control packet, which then goes round again.
    pub fn learn(&mut self, context: &mut Context<'_>) -> Verdict {
        let now = context.now();
        // Section 4.1: control packets recirculate to bring the state of egress to ingress, which alone can deflect.
        let state = context.packet().shims.get::<QueueState>().expect("all control packets have one");
        let index = usize::from(state.index);
        let QueueState { is_full, depth_bytes, mean_rank, .. } = state;
        let known = Known { is_full, depth_bytes: depth_bytes.into(), mean_rank };
        let told = ReportedOccupancy { known, read_at: self.control_packets[index], told_at: Some(now) };
        let before = std::mem::replace(&mut self.told[index], told);
        if let Some(told_at) = before.told_at {
            self.between_updates_ns.saturating_record(ns(now - told_at));
        }
        self.recirculations += 1;
        Verdict::Continue
    }

    /// Adds the age of the knowledge to a report.
    pub fn report(&self, report: &mut Report) {
        let scope = "switch";
        if !self.control_packets.is_empty() {
            report.count(scope, ControlCounters::values(self));
            let between = self.between_updates_ns.clone();
            report.histograms.push((scope.into(), UPDATE_GAP, between));
        }
        if !self.is_immediate() {
            report.histograms.push((scope.into(), OCCUPANCY_AGE, self.age_ns.clone()));
        }
    }
}

fn index_of(packet: &Packet) -> u16 {
    packet.shims.get::<QueueState>().expect("all control packets have one").index
}

const fn ns(duration: Duration) -> u64 {
    duration.as_ps() / 1_000
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The slow implementation: the history of all writes.
        #[test]
        fn a_register_shows_what_it_held_at_the_last_tick(
            steps in prop::collection::vec((0u64..500, any::<bool>()), 1..200), gap in 1u64..2_000,
        ) {
            let gap = Duration::from_ps(gap);
            let mut register = TickedRegister::default();
            let mut written: Vec<(Time, Known)> = Vec::new();
            let mut now = Time::ZERO;
            for (number, (step, writes)) in steps.into_iter().enumerate() {
                now += Duration::from_ps(step);
                if writes {
                    let known = Known { depth_bytes: number as u64 + 1, ..Known::default() };
                    register.write(now, gap, known);
                    written.push((now, known));
                }
                let tick = last_tick(now, gap);
                let last = written.iter().rev().find(|(at, _)| *at < tick);
                let expected = last.map_or(Known::default(), |&(_, known)| known);
                prop_assert_eq!(register.at_last_tick(now, gap), expected);
            }
        }
    }
}
