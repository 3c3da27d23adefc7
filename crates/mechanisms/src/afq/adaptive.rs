//! The number of queues in use, adapted to the room in the shared buffer: the idea of A2FQ, following its public
//! program. When the queue of the next round comes close to its limit, packets due soon would be lost in favour of
//! packets due late, so that fewer rounds are admitted.

use hitless_core::wire::{PortId, QueueId};
use hitless_switch::{Context, Report, Rounds};

use super::settings::AfqAdaptive;

hitless_switch::counters! {
    pub struct QueueCounters(adaptive: &ActiveQueues) {
        queues_in_use = "queues in use": adaptive.active.into(),
        queues_in_use_min = "fewest queues in use": adaptive.least.into(),
        queue_reductions = "times one queue fewer": adaptive.reductions,
        queue_extensions = "times one queue more": adaptive.extensions,
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct ActiveQueues {
    #[configured]
    config: AfqAdaptive,
    queues: u8,
    active: u8,
    reduced_in: Option<u64>,
    least: u8,
    reductions: u64,
    extensions: u64,
}

impl ActiveQueues {
    pub fn new(config: AfqAdaptive, queues: u8) -> Self {
        assert!((1..=queues).contains(&config.queues_min), "at least one queue of {queues} stays in use");
        assert!(config.low_divisor > 0, "a share of the threshold is a part of it");
        Self { config, queues, active: queues, reduced_in: None, least: queues, reductions: 0, extensions: 0 }
    }

    /// Adapts to the queue of the next round and returns the number of queues in use: at most one fewer per round, one
    /// more per packet.
    pub fn adapt(&mut self, context: &mut Context<'_>, port: PortId, rounds: Rounds) -> u8 {
        let Some(threshold_bytes) = context.buffer().threshold_bytes() else { return self.active };
        // A2FQ's program compares the depth of the second queue with the shared buffer's threshold.
        let second = ((rounds.current + 1) % u64::from(self.queues)) as u8;
        let bytes = context.queue(port, QueueId(rounds.first.0 + second)).bytes();
        if bytes > threshold_bytes.saturating_sub(self.config.margin.0) {
            self.reduce(rounds.current);
        } else if bytes > 0 && bytes < threshold_bytes / u64::from(self.config.low_divisor) && self.active < self.queues
        {
            self.active += 1;
            self.extensions += 1;
        }
        let legal = self.config.queues_min..=self.queues;
        assert!(legal.contains(&self.active), "{} queues in use, which are not {legal:?}", self.active);
        self.active
    }

    fn reduce(&mut self, round: u64) {
        // Each packet of a round meets the same long queue: only the first one lowers the number.
        if self.reduced_in == Some(round) {
            return;
        }
        self.reduced_in = Some(round);
        if self.active > self.config.queues_min {
            self.active -= 1;
            self.reductions += 1;
            self.least = self.least.min(self.active);
        }
    }

    pub fn report(&self, port: PortId, report: &mut Report) {
        report.count(&format!("port {}", port.0), QueueCounters::values(self));
    }
}
