//! Samplers: what the control plane polls while a run goes on.

use hitless_engine::OrderKey;
use hitless_wire::{Duration, PortId, Time};

use super::Simulation;
use super::event::{SimulationEvent, kind};
use super::occupancy::Occupancy;

/// What a sampler looks at.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// Bytes waiting at a port of a switch, all queues together, and, if asked for, the packets of each flow.
    QueueBytes { switch: u32, port: PortId, occupancy: Option<Box<Occupancy>> },
    /// Bytes that arrived over a link since the last sample.
    LinkBytes { link: usize, before: u64 },
}

/// Something that is looked at periodically.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    pub name: String,
    pub period: Duration,
    pub subject: Subject,
    pub samples: Vec<(Time, u64)>,
}

impl Sampler {
    /// The packets of flows, if they are counted.
    pub fn occupancy(&self) -> Option<&Occupancy> {
        match &self.subject {
            Subject::QueueBytes { occupancy, .. } => occupancy.as_deref(),
            Subject::LinkBytes { .. } => None,
        }
    }
}

impl Simulation {
    /// Samplers of flows are numbered after the others, and those of groups of flows last.
    pub(super) fn schedule_sample(&mut self, number: usize, now: Time) {
        let (others, flows) = (self.samplers.len(), self.flow_samplers.len());
        let period = match number {
            _ if number < others => self.samplers[number].period,
            _ if number < others + flows => self.flow_samplers[number - others].period,
            _ => self.group_samplers[number - others - flows].period,
        };
        let at = now + period;
        // A key of its own: sampling must not move the order of anything else.
        let order = OrderKey::new(kind::SAMPLE, number as u32, 0);
        self.medium.queue.push(at, order, SimulationEvent::Sample { sampler: number as u32 });
    }

    pub(super) fn sample(&mut self, now: Time, number: usize) {
        let (others, flows) = (self.samplers.len(), self.flow_samplers.len());
        if number < others {
            self.sample_counter(now, number);
            self.sample_packets_of_flows(now, number);
        } else if number < others + flows {
            self.sample_flows(now, number - others);
        } else {
            self.sample_group(now, number - others - flows);
        }
        self.schedule_sample(number, now);
    }

    fn sample_packets_of_flows(&mut self, now: Time, number: usize) {
        let Subject::QueueBytes { switch, port, occupancy } = &mut self.samplers[number].subject else { return };
        let (switch, port) = (*switch, *port);
        // Taken out while it is filled, since filling it looks at all of the simulation.
        let Some(mut taken) = occupancy.take() else { return };
        self.sample_occupancy(now, switch, port, &mut taken);
        if let Subject::QueueBytes { occupancy, .. } = &mut self.samplers[number].subject {
            *occupancy = Some(taken);
        }
    }

    fn sample_counter(&mut self, now: Time, number: usize) {
        let sampler = &mut self.samplers[number];
        let value = match &mut sampler.subject {
            Subject::QueueBytes { switch, port, .. } => self.switches[*switch as usize].port_bytes(now, *port),
            Subject::LinkBytes { link, before } => {
                let total = self.medium.links[*link].counters.bytes_arrived;
                total - std::mem::replace(before, total)
            }
        };
        sampler.samples.push((now, value));
    }
}
