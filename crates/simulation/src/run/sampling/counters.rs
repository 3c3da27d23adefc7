//! Samplers of port and link counters.

use hitless_core::state::{Damaged, Reader, State, Writer};
use hitless_core::wire::{Duration, PortId, Time};
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::Topology;
use hitless_scenario::network::topology::select::{SwitchPort, select_links, select_switch_ports};

use super::occupancy::Occupancy;
use crate::results::Table;
use crate::run::fabric::Fabric;

/// The counter that a sampler reads.
#[derive(Clone, Debug)]
enum Subject {
    /// Bytes queued at a switch port in all queues, and optionally the packets of each flow.
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

/// Periodic sampler of one counter.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct CounterSampler {
    #[configured]
    name: String,
    #[configured]
    pub period: Duration,
    #[part]
    subject: Subject,
    samples: Vec<(Time, u64)>,
}

/// The counter samplers that `scenario` requests.
pub(super) fn samplers(scenario: &Scenario, topology: &Topology) -> Result<Vec<CounterSampler>, String> {
    let mut samplers = Vec::new();
    let mut add = |name, period, subject| samplers.push(CounterSampler { name, period, subject, samples: Vec::new() });
    for sampling in &scenario.measure.queue {
        for name in &sampling.ports {
            let SwitchPort { switch, port } = select_switch_ports(topology, name, scenario.switch.recirculation_ports)?;
            let occupancy = sampling.per_flow.then(Default::default);
            add(name.clone(), sampling.period, Subject::QueueBytes { switch: switch.0, port, occupancy });
        }
    }
    for sampling in &scenario.measure.throughput {
        for name in &sampling.links {
            for link in select_links(topology, name)? {
                let subject = Subject::LinkBytes { link: link.index(), before: 0 };
                add(topology.link_name(link), sampling.period, subject);
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

/// The table of bytes queued at ports.
pub(super) fn queues(samplers: &[CounterSampler]) -> Table {
    samples("queues", "port", samplers, |subject| matches!(subject, Subject::QueueBytes { .. }))
}

/// The table of bytes carried by links.
pub(super) fn throughput(samplers: &[CounterSampler]) -> Table {
    samples("throughput", "link", samplers, |subject| matches!(subject, Subject::LinkBytes { .. }))
}

fn samples(name: &'static str, of: &'static str, all: &[CounterSampler], is_meant: fn(&Subject) -> bool) -> Table {
    let meant = all.iter().filter(|sampler| is_meant(&sampler.subject));
    let rows: Vec<_> = meant.flat_map(|sampler| sampler.samples.iter().map(move |sample| (sampler, sample))).collect();
    let table = Table::new(name).text(of, &rows, |(sampler, _)| sampler.name.clone());
    table.time("time_ps", &rows, |(_, sample)| sample.0).unsigned("value_bytes", &rows, |(_, sample)| sample.1)
}

/// The table of packets per flow in the sampled buffers.
pub(super) fn occupancy(samplers: &[CounterSampler]) -> Table {
    let mut rows = Vec::new();
    for sampler in samplers {
        if let Subject::QueueBytes { occupancy: Some(occupancy), .. } = &sampler.subject {
            rows.extend(occupancy.histogram().map(|(packets, flows)| (&sampler.name, packets, flows)));
        }
    }
    let table = Table::new("queue_flows").text("port", &rows, |row| row.0.clone());
    table.unsigned("packets", &rows, |row| row.1).unsigned("count", &rows, |row| row.2)
}
