//! A switch of a scenario, with a mechanism in Rust and with a program.

use std::path::Path;

use hitless_core::engine::RandomStreams;
use hitless_core::wire::priority_mark::PriorityMark;
use hitless_core::wire::shim::{CheckNumber, DetourCount};
use hitless_core::wire::{Duration, Ecn, FlowId, HostId, Packet, PortId, QueueId, Time, Transport};
use hitless_mechanisms::builtin;
use hitless_scenario::plan::{plan, switch};
use hitless_switch::testing::{Harness, Left};
use hitless_switch::{DropReason, PortState, Switch};

/// Two leaves and two spines: at leaf0 the ports 0 and 1 belong to the hosts h0 and h1, and 2 and 3 to the spines. A 10
/// Gbps line takes 800 ps for a byte.
pub const FABRIC: &str = r#"
name = "beside"
duration = "1 ms"

[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
host_link = { rate = "10 Gbps", delay = "1 us" }
core_link = { rate = "10 Gbps", delay = "1 us" }

[[transport]]
name = "t"
kind = "tcp"

[[flows]]
name = "long"
kind = "long"
transport = "t"
sources = ["h0"]
destinations = ["h2"]
"#;

/// Maximum time of a schedule after its last packet: ten times the longest (0.4 ms).
const LONGEST: Duration = Duration::from_ms(5);
/// Maximum number of events at the same time: no schedule has as many in total.
const EVENTS_AT_ONCE_MAX: u32 = 100_000;

pub const BYTE: Duration = Duration::from_ps(800);

/// A packet that arrives at leaf0, or a port state reported to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    Packet(Arrival),
    State(PortId, PortState),
}

/// A packet that arrives at leaf0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    pub port: PortId,
    pub flow: u32,
    pub to: u32,
    pub class: u8,
    pub is_capable: bool,
    pub bytes: u32,
    /// The priority given by its sender, and the number of its retransmissions.
    pub mark: Option<(u32, u8)>,
}

impl Arrival {
    pub fn packet(self) -> Packet {
        let mut packet = Packet {
            frame_bytes: self.bytes,
            flow: FlowId(self.flow),
            source: HostId(2 + self.flow % 2),
            destination: HostId(self.to),
            flow_hash: self.flow.wrapping_mul(0x9e37_79b9),
            class: self.class,
            ecn: if self.is_capable { Ecn::Capable } else { Ecn::NotCapable },
            ttl: Packet::INITIAL_TTL,
            transport: Transport::None,
            ..Packet::default()
        };
        let mark = |(rank_bytes, retransmissions)| PriorityMark { rank_bytes, retransmissions, ..Default::default() };
        self.mark.map(mark).into_iter().for_each(|mark| packet.push_shim(mark).expect("an empty stack has room"));
        packet
    }
}

/// Packets, each with a gap in bytes of line time after the previous one.
pub fn schedule(packets: impl IntoIterator<Item = (u64, Arrival)>) -> Vec<(Time, Happening)> {
    let mut at = Time::ZERO;
    let place = |(gap_bytes, arrival)| {
        at += BYTE * gap_bytes;
        (at, Happening::Packet(arrival))
    };
    packets.into_iter().map(place).collect()
}

/// The outcome of a schedule: departures and drops, in order.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    pub left: Vec<(Time, PortId, Packet)>,
    pub ended: Vec<(u32, DropReason)>,
    /// Why the run was stopped: a faulty program may never end.
    pub endless: Option<String>,
}

impl Outcome {
    pub fn marked(&self) -> usize {
        self.left.iter().filter(|(.., packet)| packet.ecn == Ecn::CongestionExperienced).count()
    }

    pub fn left_by(&self, port: u16) -> usize {
        self.left.iter().filter(|(_, by, _)| *by == PortId(port)).count()
    }

    /// Replaces the reason of a program's drops, because a program has only one.
    pub fn dropped_for(mut self, reason: DropReason) -> Self {
        let dropped = self.ended.iter_mut().filter(|(_, own)| *own == DropReason::Mechanism);
        dropped.for_each(|(_, own)| *own = reason);
        self
    }

    /// The first difference between two outcomes.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if let (Some(why), _) | (_, Some(why)) = (&self.endless, &other.endless) {
            return Some(why.clone());
        }
        let left = self.left.iter().zip(&other.left).position(|(one, other)| one != other);
        let ended = self.ended.iter().zip(&other.ended).position(|(one, other)| one != other);
        match (left, ended) {
            (Some(at), _) => Some(format!("departure {at}: {:?}\nand {:?}", self.left[at], other.left[at])),
            (None, Some(at)) => Some(format!("end {at}: {:?} and {:?}", self.ended[at], other.ended[at])),
            (None, None) if self == other => None,
            _ => Some(format!(
                "{} and {} leave, {} and {} end",
                self.left.len(),
                other.left.len(),
                self.ended.len(),
                other.ended.len()
            )),
        }
    }
}

/// The comparable part of a departure, without fields that do not exist on a line and counts for observers.
fn normal(left: &Left) -> (Time, PortId, Packet) {
    let mut packet = left.packet;
    packet.remove_shim::<DetourCount>();
    packet.remove_shim::<CheckNumber>();
    let (queue, egress_port) = (QueueId(0), left.port);
    (left.at, left.port, Packet { owner: 0, role: 0, round: 0, queue, egress_port, ..packet })
}

/// Runs the same schedule on a switch in Rust and on one with a program.
pub fn both(texts: [String; 2], schedule: &[(Time, Happening)]) -> [Outcome; 2] {
    texts.map(|text| run(&mut leaf(&text), schedule))
}

pub fn switch_of(switch_and_mechanisms: &str, name: &str) -> Switch {
    switch_at("10 Gbps", switch_and_mechanisms, name)
}

/// Like [`switch_of`], with another line rate.
pub fn switch_at(rate: &str, switch_and_mechanisms: &str, name: &str) -> Switch {
    let text = format!("{}{switch_and_mechanisms}", FABRIC.replace("10 Gbps", rate));
    let scenario =
        hitless_scenario::check(&text, "beside", builtin()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let topology = scenario.build_topology().expect("the topology is sound");
    let mut plan = plan(&scenario, &topology).expect("the mechanisms are sound");
    let id = topology.switch_ids().find(|&id| topology.switch(id).name == name).expect("there is such a switch");
    let number = id.0 as usize;
    let mechanisms = std::mem::take(&mut plan.mechanisms[number]);
    let streams = RandomStreams::new(scenario.seed);
    let limits = &plan.recirculation_limits[number];
    switch(&scenario, &topology, id, &streams, limits, mechanisms)
}

/// The port of leaf0 towards a host.
pub fn route(host: HostId) -> PortId {
    match host {
        HostId(host @ 0..=1) => PortId(host as u16),
        HostId(host) => PortId((host % 2) as u16 + 2),
    }
}

fn leaf(switch_and_mechanisms: &str) -> Harness {
    Harness::of_one(switch_of(switch_and_mechanisms, "leaf0"), |packet| route(packet.destination))
}

/// Runs a schedule until its last packet has arrived; returns a description if time stands still.
pub fn feed(one: &mut Harness, schedule: &[(Time, Happening)]) -> Option<String> {
    for &(at, happening) in schedule {
        match happening {
            Happening::Packet(arrival) => {
                let endless = advance(one, at);
                if endless.is_some() {
                    return endless;
                }
                one.arrive(at, arrival.port, arrival.packet());
            }
            Happening::State(port, state) => one.tell_state(at, 0, port, state),
        }
    }
    None
}

/// Runs all events before `limit`; returns a description if time stands still.
pub fn advance(one: &mut Harness, limit: Time) -> Option<String> {
    let (mut moment, mut events) = (Time::ZERO, 0);
    while let Some(at) = one.next_time().filter(|at| *at < limit) {
        events = if at == moment { events + 1 } else { 0 };
        moment = at;
        if events == EVENTS_AT_ONCE_MAX {
            return Some(format!("time stands still: at {at} there were {events} events, and there are more"));
        }
        one.step();
    }
    None
}

/// Runs a schedule until no event is left, or until it is clear that events never end.
pub fn run(one: &mut Harness, schedule: &[(Time, Happening)]) -> Outcome {
    let last = schedule.last().map_or(Time::ZERO, |(at, _)| *at);
    let endless = feed(one, schedule).or_else(|| advance(one, last + LONGEST)).or_else(|| {
        let at = one.next_time().filter(|at| *at < Time::NEVER)?;
        let alive = one.world.packets.alive();
        Some(format!("it never ends: at {at}, {LONGEST} after its last packet, {alive} packets are still there"))
    });
    let mut left: Vec<_> = one.world.left.iter().map(normal).collect();
    // A FIFO port delivers a packet as soon as its departure time is known.
    left.sort_by_key(|&(at, port, _)| (at, port));
    Outcome { left, ended: one.ended(), endless }
}

/// The entry of a program of p4/ on leaf0, with `commands` and the additional text `more`.
pub fn program(name: &str, commands: &str, more: &str) -> String {
    program_on("leaf0", name, commands, more)
}

pub fn program_on(switch: &str, name: &str, commands: &str, more: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4").join(name);
    // Tests run concurrently, each in a thread with its name, and write separate files.
    let test = std::thread::current().name().unwrap_or_default().replace("::", "-");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{switch}.txt"));
    std::fs::write(&file, commands).expect("the folder for tests takes a file");
    let path = folder.join(format!("{name}.json"));
    format!(
        "[[mechanism]]\nkind = \"p4\"\nswitches = [{switch:?}]\nprogram = {:?}\ncommands = {:?}\n{more}",
        path.display().to_string(),
        file.display().to_string()
    )
}

/// The last value from `low` with the same outcome as `low`: behind it a comparison changes, so that this value or the
/// next equals the value it is compared with. `None` if nothing changes up to `high`.
pub fn boundary<T: PartialEq>(low: u32, high: u32, outcome: impl Fn(u32) -> T) -> Option<u32> {
    let first = outcome(low);
    let (mut same, mut other) = (low, high);
    if outcome(high) == first {
        return None;
    }
    while other - same > 1 {
        let middle = same + (other - same) / 2;
        if outcome(middle) == first { same = middle } else { other = middle }
    }
    Some(same)
}
