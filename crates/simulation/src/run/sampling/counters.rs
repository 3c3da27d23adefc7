//! Counters of ports and links.

use hitless_network::topology::Topology;
use hitless_network::topology::select::{SwitchPort, select_links, select_switch_ports};
use hitless_scenario::Scenario;
use hitless_state::{Damaged, Reader, State, Writer};
use hitless_wire::{Duration, PortId, Time};

use super::occupancy::Occupancy;
use crate::results::Table;
use crate::run::fabric::Fabric;

/// What a sampler looks at.
#[derive(Clone, Debug)]
enum Subject {
    /// Bytes waiting at a port of a switch, all queues together, and, if asked for, the packets of each flow.
    QueueBytes { switch: u32, port: PortId, occupancy: Option<Occupancy> },
    /// Bytes that arrived over a link since the last sample.
    LinkBytes { link: usize, before: u64 },
}

impl State for Subject {
    fn save(&self, out: &mut Writer) {
        match self {
            Self::QueueBytes { switch: _, port: _, occupancy } => out.value(occupancy),
            Self::LinkBytes { link: _, before } => out.value(before),
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        match self {
            Self::QueueBytes { switch: _, port: _, occupancy } => *occupancy = from.value()?,
            Self::LinkBytes { link: _, before } => *before = from.value()?,
        }
        Ok(())
    }
}

/// A counter that is looked at periodically.
#[derive(Clone, Debug)]
pub(super) struct CounterSampler {
    name: String,
    pub period: Duration,
    subject: Subject,
    samples: Vec<(Time, u64)>,
}

hitless_state::state!(CounterSampler { values: samples; parts: subject; configured: name, period });

/// The samplers of counters that `scenario` asks for.
pub(super) fn samplers(scenario: &Scenario, topology: &Topology) -> Result<Vec<CounterSampler>, String> {
    let mut samplers = Vec::new();
    for sampling in &scenario.measure.queue {
        for name in &sampling.ports {
            let SwitchPort { switch, port } = select_switch_ports(topology, name, scenario.switch.recirculation_ports)?;
            let occupancy = sampling.per_flow.then(Default::default);
            let subject = Subject::QueueBytes { switch: switch.0, port, occupancy };
            samplers.push(CounterSampler { name: name.clone(), period: sampling.period, subject, samples: Vec::new() });
        }
    }
    for sampling in &scenario.measure.throughput {
        for name in &sampling.links {
            for link in select_links(topology, name)? {
                let subject = Subject::LinkBytes { link: link.index(), before: 0 };
                let name = topology.link_name(link);
                samplers.push(CounterSampler { name, period: sampling.period, subject, samples: Vec::new() });
            }
        }
    }
    Ok(samplers)
}

impl CounterSampler {
    pub fn sample<F: Fabric>(&mut self, now: Time, network: &mut F) {
        let value = match &mut self.subject {
            Subject::QueueBytes { switch, port, occupancy } => {
                let bytes = network.port_bytes(now, *switch, *port);
                if let Some(occupancy) = occupancy {
                    occupancy.sample(now, *switch, *port, network);
                }
                bytes
            }
            Subject::LinkBytes { link, before } => {
                let total = network.link_counters(*link).bytes_arrived;
                debug_assert!(total >= *before, "a counter of a link runs backwards");
                total - std::mem::replace(before, total)
            }
        };
        self.samples.push((now, value));
    }
}

/// The table of how many bytes waited at ports.
pub(super) fn queues(samplers: &[CounterSampler]) -> Table {
    samples("queues", "port", samplers.iter().filter(|sampler| matches!(sampler.subject, Subject::QueueBytes { .. })))
}

/// The table of how many bytes links carried.
pub(super) fn throughput(samplers: &[CounterSampler]) -> Table {
    samples(
        "throughput",
        "link",
        samplers.iter().filter(|sampler| matches!(sampler.subject, Subject::LinkBytes { .. })),
    )
}

fn samples<'a>(name: &'static str, subject: &'static str, samplers: impl Iterator<Item = &'a CounterSampler>) -> Table {
    let of_sampler =
        |sampler: &'a CounterSampler| sampler.samples.iter().map(|&(at, value)| (sampler.name.as_str(), at, value));
    let rows: Vec<_> = samplers.flat_map(of_sampler).collect();
    let table = Table::new(name).text(subject, &rows, |row| row.0.to_owned());
    table.time("time_ps", &rows, |row| row.1).unsigned("value_bytes", &rows, |row| row.2)
}

/// The table of how many packets flows had in the buffers that were looked at.
pub(super) fn occupancy(samplers: &[CounterSampler]) -> Table {
    let histogram = |sampler: &CounterSampler| match &sampler.subject {
        Subject::QueueBytes { occupancy: Some(occupancy), .. } => occupancy.histogram().collect(),
        _ => Vec::new(),
    };
    let of_sampler = |sampler: &CounterSampler| {
        histogram(sampler)
            .into_iter()
            .map(|(packets, flows)| (sampler.name.clone(), packets, flows))
            .collect::<Vec<_>>()
    };
    let rows: Vec<_> = samplers.iter().flat_map(of_sampler).collect();
    Table::new("queue_flows").text("port", &rows, |row| row.0.clone()).unsigned("packets", &rows, |row| row.1).unsigned(
        "count",
        &rows,
        |row| row.2,
    )
}
