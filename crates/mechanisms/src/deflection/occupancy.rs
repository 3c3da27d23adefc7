//! What ingress knows of queues, and how old it is (sections 4.1, 4.2 and 6, appendix D).
//!
//! Where the hardware shows depths in egress only, egress keeps of each queue what a packet finds there when it leaves:
//! a queue that nothing leaves keeps its last value. From there it comes to ingress in one of two ways. *Control
//! packets*, one for each queue, go round by recirculation ports for ever; each reads its queue's registers in egress
//! and writes them in ingress. An *update gap* is the same without the packets: ingress sees what egress held at the
//! last multiple of the gap. It costs no event, since a register of egress remembers what it held at the last tick.

use crate::deflection::metadata::QueueState;
use hdrhistogram::Histogram;
use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Duration, Packet, PortId, QueueId, Time};
use hitless_switch::{Context, HookSet, Report, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capacity::{Capacity, Place};

/// Bytes of a control packet (section 6).
pub const CONTROL_PACKET_BYTES: u32 = 72;

/// Where ingress knows from how full queues are. Where it does not see them, egress keeps of each queue what a packet
/// finds there that leaves, and a queue that nothing leaves keeps its last value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "DeflectionOccupancy")]
pub enum Occupancy {
    /// It sees them as they are: Tofino 2, and the authors' simulator.
    Immediate(ImmediateOccupancy),
    /// It knows what egress held at the last multiple of a time (section 6, figure 14).
    UpdateGap(UpdateGap),
    /// It is told by control packets that go round by the recirculation ports for ever, one for each queue (section
    /// 4.1).
    ControlPackets(ControlPackets),
}

impl Default for Occupancy {
    fn default() -> Self {
        Self::Immediate(ImmediateOccupancy {})
    }
}

/// Queues as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImmediateOccupancy {}

/// Queues as they were at the last tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpdateGap {
    /// From tick to tick.
    #[serde(with = "Text::<Duration>")]
    pub gap: Duration,
    /// Whether it knows at once that a queue is full, and only depths and means are late (the authors' simulator).
    pub sees_full_at_once: bool,
}

impl Default for UpdateGap {
    fn default() -> Self {
        Self { gap: Duration::from_us(2), sees_full_at_once: false }
    }
}

/// Packets that tell ingress of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControlPackets {
    /// How many go round at least, as if the switch had more queues (appendix D: up to 512); left out: one for each
    /// queue.
    #[schemars(range(max = 65535))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u16>,
}

/// What egress and ingress keep of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Known {
    /// Whether a packet as long as the one that left last would have found no room before that, with another one like
    /// it on the line: when a packet leaves, there is always room for one.
    pub is_full: bool,
    /// What the packet that left last has left behind.
    pub depth_bytes: u64,
    /// The mean rank.
    pub mean_rank: u32,
}

/// A register of egress, and what it held at the last tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct TickedRegister {
    value: Known,
    written_at: Time,
    /// What it held at the last tick before it was written.
    at_tick: Known,
}

impl TickedRegister {
    /// Writes a value. Times never fall.
    pub fn write(&mut self, now: Time, gap: Duration, value: Known) {
        assert!(now >= self.written_at, "a register is written in the order of time");
        if self.written_at < last_tick(now, gap) {
            self.at_tick = self.value;
        }
        self.value = value;
        self.written_at = now;
    }

    /// What it held at the last tick; what was written at the tick itself came later.
    pub fn at_last_tick(&self, now: Time, gap: Duration) -> Known {
        if self.written_at < last_tick(now, gap) { self.value } else { self.at_tick }
    }

    /// What it holds.
    pub const fn value(&self) -> Known {
        self.value
    }
}

/// The last multiple of `gap`.
pub fn last_tick(now: Time, gap: Duration) -> Time {
    Time(now.as_ps() - now.as_ps() % gap.as_ps())
}

/// What ingress has from a control packet.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct ReportedOccupancy {
    known: Known,
    /// When the packet read it in egress.
    read_at: Time,
    /// When it came; none: never.
    told_at: Option<Time>,
}

/// What a switch knows of its queues.
#[derive(Debug)]
pub(crate) struct View {
    occupancy: Occupancy,
    /// Those on which control packets go round, in turn.
    recirculation_ports: Vec<PortId>,
    /// By queue, those that control packets beyond the number of queues stand for included.
    egress: Vec<TickedRegister>,
    told: Vec<ReportedOccupancy>,
    /// By control packet: when it was last in egress.
    control_packets: Vec<Time>,
    recirculations: u64,
    between_updates_ns: Histogram<u64>,
    age_ns: Histogram<u64>,
}

hitless_core::state!(View {
    values: recirculation_ports, egress, told, control_packets, recirculations;
    parts: between_updates_ns, age_ns;
    configured: occupancy
});

impl View {
    /// `recirculation_ports` are those of the switch.
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

    /// Whether ingress sees queues as they are.
    #[inline]
    pub const fn is_immediate(&self) -> bool {
        matches!(self.occupancy, Occupancy::Immediate(_))
    }

    /// The recirculation ports that control packets take.
    pub fn recirculation_ports(&self) -> &[PortId] {
        if matches!(self.occupancy, Occupancy::ControlPackets(_)) { &self.recirculation_ports } else { &[] }
    }

    /// How many queues it knows of.
    pub fn queues(&self) -> usize {
        self.told.len()
    }

    /// Makes room for the queues of all ports. Recirculation ports are the last of a switch.
    pub fn size(&mut self, queue_counts: &[usize]) {
        let queues: usize = queue_counts.iter().sum();
        let packets = match self.occupancy {
            Occupancy::ControlPackets(ControlPackets { packets }) => {
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

    /// The hooks that it needs at each port.
    pub const fn hooks(&self) -> HookSet {
        if self.is_immediate() { HookSet::NONE } else { HookSet::EGRESS }
    }

    /// Whether the packet at hand is a control packet.
    #[inline]
    pub fn owns(&self, context: &mut Context<'_>) -> bool {
        !self.is_immediate() && context.is_mine()
    }

    /// Injects the control packets.
    pub fn start(&self, context: &mut Context<'_>) {
        for (index, &port) in (0..self.control_packets.len() as u16).zip(self.recirculation_ports.iter().cycle()) {
            let mut packet = Packet { frame_bytes: CONTROL_PACKET_BYTES, ..Packet::default() };
            let state = QueueState { index, ..QueueState::default() };
            packet.push_shim(state).expect("it carries no other shim");
            context.queue(port, QueueId(0)).emit(packet, 0);
        }
    }

    /// Whether a queue has no room for the packet at hand, as far as ingress knows.
    #[inline]
    pub fn is_full(&mut self, place: Place, index: usize, context: &mut Context<'_>) -> bool {
        match self.occupancy {
            Occupancy::Immediate(_) | Occupancy::UpdateGap(UpdateGap { sees_full_at_once: true, .. }) => {
                !context.queue(place.port, place.queue).has_room()
            }
            _ => self.known(index, context.now()).is_full,
        }
    }

    /// The depth of a queue, as far as ingress knows.
    #[inline]
    pub fn depth_bytes(&mut self, place: Place, index: usize, context: &mut Context<'_>) -> u64 {
        match self.occupancy {
            Occupancy::Immediate(_) => context.queue(place.port, place.queue).bytes(),
            _ => self.known(index, context.now()).depth_bytes,
        }
    }

    /// What ingress knows of a queue by way of egress.
    pub fn known(&mut self, index: usize, now: Time) -> Known {
        match self.occupancy {
            Occupancy::Immediate(_) => Known::default(),
            Occupancy::UpdateGap(UpdateGap { gap, .. }) => {
                self.age_ns.saturating_record(ns(now - last_tick(now, gap)));
                self.egress[index].at_last_tick(now, gap)
            }
            Occupancy::ControlPackets(_) => {
                let told = self.told[index];
                if told.told_at.is_some() {
                    self.age_ns.saturating_record(ns(now - told.read_at));
                }
                told.known
            }
        }
    }

    /// The packet at hand leaves a queue: egress keeps what it finds.
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
            is_full: capacity_bytes.is_some_and(|capacity| depth_bytes + 3 * frame_bytes > capacity),
            depth_bytes,
            mean_rank: mean_rank.unwrap_or(register.value.mean_rank),
        };
        let gap = match self.occupancy {
            Occupancy::UpdateGap(UpdateGap { gap, .. }) => gap,
            _ => Duration::from_ps(1),
        };
        register.write(context.now(), gap, known);
    }

    /// A control packet is in egress: it reads the registers of its queue.
    pub fn read(&mut self, context: &mut Context<'_>) -> Verdict {
        let now = context.now();
        let index = index_of(context.packet());
        let Known { is_full, depth_bytes, mean_rank } = self.egress[usize::from(index)].value();
        let depth_bytes = depth_bytes.try_into().unwrap_or(u32::MAX);
        context.packet().shims.replace(QueueState { index, is_full, depth_bytes, mean_rank });
        self.control_packets[usize::from(index)] = now;
        Verdict::Continue
    }

    /// A control packet is in ingress, which learns what it says; then it goes round again.
    pub fn learn(&mut self, context: &mut Context<'_>) -> Verdict {
        let now = context.now();
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

    /// Adds how old it was.
    pub fn report(&self, report: &mut Report) {
        let scope = "switch";
        if !self.control_packets.is_empty() {
            report.count(scope, "control packets", self.control_packets.len() as u64);
            report.count(scope, "recirculations of control packets", self.recirculations);
            let between = self.between_updates_ns.clone();
            report.histograms.push((scope.into(), "time between two updates of a queue (ns)", between));
        }
        if !self.is_immediate() {
            report.histograms.push((scope.into(), "age of what ingress knows, at use (ns)", self.age_ns.clone()));
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
        /// The slow way: all that was ever written.
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
