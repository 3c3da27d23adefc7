//! Samplers: what the control plane polls while a run goes on.

use hitless_engine::OrderKey;
use hitless_wire::{Duration, PortId, Time};

use super::Simulation;
use super::event::{SimulationEvent, kind};

/// What a sampler looks at.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// Bytes waiting at a port of a switch, all queues together.
    QueueBytes { switch: u32, port: PortId },
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

impl Simulation {
    pub(super) fn schedule_sample(&mut self, number: usize, now: Time) {
        let at = now + self.samplers[number].period;
        // A key of its own: sampling must not move the order of anything else.
        let order = OrderKey::new(kind::SAMPLE, number as u32, 0);
        self.medium.queue.push(at, order, SimulationEvent::Sample { sampler: number as u32 });
    }

    pub(super) fn sample(&mut self, now: Time, number: usize) {
        let Some(sampler) = self.samplers.get_mut(number) else { return };
        let value = match &mut sampler.subject {
            Subject::QueueBytes { switch, port } => self.switches[*switch as usize].port_bytes(now, *port),
            Subject::LinkBytes { link, before } => {
                let total = self.medium.links[*link].counters.bytes_arrived;
                total - std::mem::replace(before, total)
            }
        };
        sampler.samples.push((now, value));
        self.schedule_sample(number, now);
    }
}
