//! The queues of a switch's ports, by a program's numbers.
//!
//! Queues of traffic classes and rotating queues have the switch's numbers; the program's own queues have numbers from
//! [`OWN_QUEUE`].

use std::collections::BTreeMap;

use hitless_core::wire::{Duration, PortId, QueueId};
use hitless_p4::fabric::Rounds;
use hitless_p4::pipeline::OWN_QUEUE;
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::topology::SwitchId;
use hitless_scenario::network::topology::select::{SwitchPort, select_ports_by_switch};
use hitless_switch::{Context, GroupDiscipline, LatePackets, QueueConfig, QueueGroup, QueueLimit};

use super::settings::{P4Queue, P4Rounds, P4Settings};
use super::told::Missing;
use crate::queue_limit::{limit_of_port, queue_limit};

#[derive(Clone, Debug, Default, hitless_core::state::State)]
struct PortQueues {
    #[configured]
    before: usize,
    #[configured]
    own: Vec<QueueConfig>,
    #[configured]
    group: Option<QueueGroup>,
    /// The first queue of the group, once the switch has started.
    first_of_group: Option<u8>,
}

impl PortQueues {
    fn is_of_group(&self, queue: u8) -> bool {
        let place = |first: u8| queue.checked_sub(first);
        let count = self.group.map_or(0, |group| group.queues);
        self.first_of_group.and_then(place).is_some_and(|place| place < count)
    }
}

#[derive(Clone, Debug, Default, hitless_core::state::State)]
pub struct Queues {
    #[part]
    ports: Vec<PortQueues>,
}

fn at<'e, S>(
    entries: impl IntoIterator<Item = &'e S>,
    names: impl Fn(&S) -> &[String],
    switch: SwitchId,
    around: Surroundings<'_>,
) -> Vec<(SwitchPort, &'e S)> {
    let of_entry = |entry: &'e S| {
        let ports = select_ports_by_switch(around.topology, names(entry)).remove(&switch).unwrap_or_default();
        ports.into_iter().map(move |port| (port, entry))
    };
    entries.into_iter().flat_map(of_entry).collect()
}

fn own(entry: &P4Queue) -> QueueConfig {
    let limit = entry.limit.map_or(QueueLimit::Unlimited, queue_limit);
    QueueConfig::normal(limit).with_priority(entry.priority)
}

fn group(rounds: &P4Rounds, port: SwitchPort, around: Surroundings<'_>) -> QueueGroup {
    let limit = rounds.limit.or_else(|| limit_of_port(around.scenario, around.topology, port));
    let (late, step) = (LatePackets::ServedQueue, Duration::ZERO);
    QueueGroup {
        queues: rounds.queues,
        queue: QueueConfig::normal(QueueLimit::Unlimited),
        discipline: GroupDiscipline::RotatingStrictPriority { late, step },
        limit: limit.map_or(QueueLimit::Unlimited, queue_limit),
        idle_round_time: None,
        classes: u8::MAX,
    }
}

impl Queues {
    pub fn new(settings: &P4Settings, switch: SwitchId, around: Surroundings<'_>) -> Self {
        let lines = around.topology.switch(switch).ports.len();
        let count = lines + usize::from(around.scenario.switch.recirculation_ports);
        let mut ports = vec![PortQueues::default(); count];
        for (port, entry) in at(&settings.queue, |entry| &entry.ports, switch, around) {
            ports[usize::from(port.port.0)].own.push(own(entry));
        }
        for (port, rounds) in at(&settings.rounds, |rounds| &rounds.ports, switch, around) {
            ports[usize::from(port.port.0)].group = Some(group(rounds, port, around));
        }
        Self { ports }
    }

    /// Notes the number of other queues at each port, which come before these.
    pub fn note_others(&mut self, counts: &[usize]) {
        self.ports.truncate(counts.len());
        self.ports.iter_mut().zip(counts).for_each(|(port, &count)| port.before = count);
    }

    /// Notes the first rotating queue of each port, once the switch runs.
    pub fn note_groups(&mut self, context: &mut Context<'_>) {
        for (number, port) in (0..).zip(&mut self.ports).filter(|(_, port)| port.group.is_some()) {
            port.first_of_group = context.group(PortId(number)).rounds().map(|rounds| rounds.first.0);
        }
    }

    pub fn ports(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..self.ports.len() as u16).map(PortId)
    }

    pub fn own(&self) -> Vec<(PortId, QueueConfig)> {
        let of_port = |(number, port): (u16, &PortQueues)| {
            let own: Vec<_> = port.own.iter().map(|&queue| (PortId(number), queue)).collect();
            own
        };
        (0..).zip(&self.ports).flat_map(of_port).collect()
    }

    pub fn groups(&self) -> Vec<(PortId, QueueGroup)> {
        (0..).zip(&self.ports).filter_map(|(number, port)| Some((PortId(number), port.group?))).collect()
    }

    pub fn port(&self, port: u32) -> Option<PortId> {
        u16::try_from(port).ok().filter(|&port| usize::from(port) < self.ports.len()).map(PortId)
    }

    pub fn place(&self, port: u32, queue: u32) -> Option<(PortId, QueueId)> {
        let id = self.port(port)?;
        let of = &self.ports[usize::from(id.0)];
        let number = match queue.checked_sub(OWN_QUEUE) {
            Some(own) => Some(own as usize).filter(|&own| own < of.own.len()).map(|own| (of.before + own) as u8)?,
            None => u8::try_from(queue).ok().filter(|&it| usize::from(it) < of.before || of.is_of_group(it))?,
        };
        Some((id, QueueId(number)))
    }

    /// The missing destination if [`Queues::place`] finds nothing.
    pub fn missing(&self, port: u32, queue: u32) -> Missing {
        if self.port(port).is_none() { Missing::Port(port) } else { Missing::Queue(port, queue) }
    }

    pub fn names(&self, port: u32) -> String {
        let Some(of) = self.port(port).map(|port| &self.ports[usize::from(port.0)]) else { return "none".into() };
        let range = |first: usize, count: usize| {
            if count == 1 { format!("{first}") } else { format!("{first} to {}", first + count - 1) }
        };
        let group = of.first_of_group.zip(of.group).map(|(first, group)| (first.into(), group.queues.into()));
        let own = (OWN_QUEUE as usize, of.own.len());
        let all = [Some((0, of.before)), group, Some(own)].into_iter().flatten().filter(|(_, count)| *count > 0);
        all.map(|(first, count)| range(first, count)).collect::<Vec<_>>().join(", ")
    }

    pub fn number(&self, port: PortId, queue: QueueId) -> u32 {
        let of = &self.ports[usize::from(port.0)];
        let own = usize::from(queue.0).checked_sub(of.before).filter(|&own| own < of.own.len());
        own.map_or(queue.0.into(), |own| OWN_QUEUE + own as u32)
    }

    pub fn rounds(&self, port: PortId, context: &mut Context<'_>) -> Option<Rounds> {
        let queues = self.ports[usize::from(port.0)].group?.queues.into();
        let rounds = context.group(port).rounds()?;
        Some(Rounds { current: rounds.current, first_queue: rounds.first.0.into(), queues })
    }

    /// The low bits of the round of a rotating queue; 0 for any other queue.
    pub fn round(&self, (port, queue): (PortId, QueueId), context: &mut Context<'_>) -> u8 {
        if !self.ports[usize::from(port.0)].is_of_group(queue.0) {
            return 0;
        }
        let Some(Rounds { current, first_queue, queues }) = self.rounds(port, context) else { return 0 };
        // The first round from the current one that this queue serves: round r is served by queue r modulo their
        // number.
        let place = u64::from(queue.0) - u64::from(first_queue);
        let ahead = (place + u64::from(queues) - current % u64::from(queues)) % u64::from(queues);
        (current + ahead) as u8
    }
}

pub fn most(settings: &P4Settings) -> u16 {
    let mut named = BTreeMap::<&str, u16>::new();
    let everywhere = settings.queue.iter().filter(|entry| entry.ports.is_empty()).count() as u16;
    let names = settings.queue.iter().flat_map(|entry| &entry.ports);
    names.for_each(|name| *named.entry(name).or_default() += 1);
    let rotating = settings.rounds.iter().map(|rounds| u16::from(rounds.queues)).max().unwrap_or(0);
    everywhere + named.into_values().max().unwrap_or(0) + rotating
}
